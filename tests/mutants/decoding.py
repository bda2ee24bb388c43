MUTANTS = [
    ("padding read", "self.mask[..., :end]", "None"),
    (
        "positions count the padding",
        "(places - self.padding[:, None])",
        "(places - 0 * self.padding[:, None])",
    ),
    ("padding on the right", ', padding_side="left"', ""),
    ("padding of the source read", "None if (lengths == S).all() else", "None if True else"),
    ("masks without padding", "if self.padding.any():", "if True:"),
    (
        "repeated in the wrong order",
        "len(self.padding), device=self.ids.device).repeat_interleave(times)",
        "len(self.padding), device=self.ids.device).repeat(times)",
    ),
    (
        "sources repeated in the wrong order",
        "len(self.ids), device=self.ids.device).repeat_interleave(times)",
        "len(self.ids), device=self.ids.device).repeat(times)",
    ),
    ("padding not repeated", "self.padding = self.padding[rows]", "pass"),
    (
        "memories not repeated",
        "[(k[rows], v[rows]) for k, v in self.memories]",
        "[(k[0 * rows], v[0 * rows]) for k, v in self.memories]",
    ),
    ("one position too many", "T + max_words - 1)", "T + max_words)"),
    ("one position too few", "words > config.max_length", "words > config.max_length + 1"),
    ("dropout not noticed", "if model.training and model.config.dropout:", "if False:"),
    ("ids not compared with the vocabulary", "if ids.numel() and not 0", "if False and not 0"),
]
