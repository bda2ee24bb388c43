MUTANTS = [
    ("the last id left out", "if high >= size else", "if high >= size - 1 else"),
    ("one id past the end taken", "if high >= size else", "if high > size else"),
    ("negative ids taken", "low if low < 0 else", ""),
    ("ids that are truths taken", "(torch.int64, torch.int32)", "(torch.int64, torch.int32, torch.bool)"),
    ("ids of one sentence taken", "ids.dim() != 2 or", "ids.dim() > 2 or"),
    ("no ids taken", "ids.dim() != 2 or 0 in ids.shape", "ids.dim() != 2"),
    ("numbers asked of the meta device", "rows.is_meta or ", ""),
    ("numbers asked while compiling", " or torch.compiler.is_compiling()", ""),
    ("the first of ids' ends forgotten", "ids.device != table.device", "False"),
    ("any width taken", "x.shape[-1] != d_model", "x.shape[-1] < d_model"),
    ("no words taken", "x.dim() < 2 or 0 in x.shape", "x.dim() < 2"),
    ("words elsewhere taken", "if x.device != weight.device", "if False"),
]
