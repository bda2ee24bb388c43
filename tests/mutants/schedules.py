MUTANTS = [
    ("the rise too steep", "step * warmup**-1.5", "step * warmup**-0.5"),
    ("no rise before the cosine", "return peak * step / warmup", "return peak"),
    ("the floor forgotten", "return floor + (peak - floor)", "return (peak - floor)"),
]
