MUTANTS = [
    ("the mean over padding too", "(x * real).sum(1)", "x.sum(1)"),
    ("divided by the padded length", "real.sum(1).clamp(min=1)", "x.shape[1]"),
    (
        "padding read",
        "x = model(pad_sequence(ids, batch_first=True), mask=mask)",
        "x = model(pad_sequence(ids, batch_first=True))",
    ),
    (
        "vectors not of length 1",
        "nn.functional.normalize(mean_pool(x, mask), dim=-1)",
        "mean_pool(x, mask)",
    ),
    ("dropout left on", "return model.eval()", "return model"),
    ("only the first of several files", "for name in names:", "for name in names[:1]:"),
    ("only the first batch", "range(0, len(sentences), batch_size)", "range(0, 1)"),
    ("the dtype ignored", "tensors, dtype=dtype)", "tensors)"),
    ("cut where the file says", 'if (folder / "sentence_bert_config.json").is_file():', "if False:"),
    ("one end word of several", "tuple(end) if", "end[0] if"),
    ("words that are long bad texts", "if len(ids) == 1) or None", ") or None"),
]
