MUTANTS = [
    ("reach of the first output", "out[:, -1].sum(0)", "out[:, 0].sum(0)"),
    ("reach counted from the start", ".mean(0).flip(0)", ".mean(0)"),
    ("reach squared", "sum((0, -1)).sqrt()", "sum((0, -1))"),
    ("shortest chain", "max((length[n] for n", "min((length[n] for n"),
    ("every node counted", "longest + node.name().startswith(products)", "longest + 1"),
]
