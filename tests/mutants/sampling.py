MUTANTS = [
    ("divided by nothing", "logits.float() / temperature", "logits.float()"),
    ("multiplied by the temperature", "logits.float() / temperature", "logits.float() * temperature"),
    ("top-k of one too many", "logits.topk(top_k).values", "logits.topk(top_k + 1).values"),
    ("top-p without the word that reaches p", "p.cumsum(-1) - p >= top_p", "p.cumsum(-1) >= top_p"),
    ("top-p not put back in order", "enough.scatter(-1, order, enough)", "enough"),
    ("always the likeliest", "if self.temperature == 0:", "if True:"),
    ("the generator forgotten", "generator=self.generator)", "generator=None)"),
]
