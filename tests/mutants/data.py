MUTANTS = [
    (
        "languages swapped",
        "num2words(n, lang=source), num2words(n, lang=target)",
        "num2words(n, lang=target), num2words(n, lang=source)",
    ),
    ("a year short", "(1990, 2020)", "(1990, 2019)"),
    ("the style ignored", "format_date(day, style, locale", 'format_date(day, "full", locale'),
    (
        "characters begin among the special ids",
        "enumerate(self.characters, len(SPECIAL))",
        "enumerate(self.characters, 2)",
    ),
    ("unknown characters not named", "        if unknown:\n", "        if False:\n"),
    ("special words read in a text", "self._tokenizer.encode_special_tokens = True", "pass"),
    ("a blank before every text", "add_prefix_space=False", "add_prefix_space=True"),
    ("only bytes that were seen", "initial_alphabet=alphabet", "initial_alphabet=[]"),
    ("ids past the end taken", "if not 0 <= id < vocab_size]", "if not 0 <= id]"),
    ("padded on the other side", 'if side == "right" else', 'if side == "left" else'),
    ("rows not sorted", "order.sort(key=lambda n: [len(part) for part in rows[n]])", "pass"),
    (
        "batches in the order of their length",
        "for n in torch.randperm(len(starts), generator=generator).tolist():",
        "for n in range(len(starts)):",
    ),
    (
        "the generator forgotten",
        "torch.randperm(len(rows), generator=generator)",
        "torch.randperm(len(rows))",
    ),
    (
        "the last rows lost",
        "range(0, len(order), batch_size)",
        "range(0, len(order) - batch_size, batch_size)",
    ),
]
