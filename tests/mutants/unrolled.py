MUTANTS = [
    ("embeddings not scaled", "x = x * self.scale", "pass"),
    (
        "positions from the caches always",
        "self.table[past] if positions is None else",
        "self.table[past] if True else",
    ),
    ("rotated by the caches always", "if positions is None else positions\n", "if True else positions\n"),
    ("the mask forgotten", "attn_mask=mask", "attn_mask=None"),
    (
        "heads shared in the wrong order",
        "k.repeat_interleave(H // Hkv, 1)",
        "k.repeat(1, H // Hkv, 1, 1)",
    ),
    ("always pre-norm", "self.pre_norm = caches, model.config.pre_norm", "self.pre_norm = caches, True"),
    ("no norm at the end", "self.logits(self.norm(x))", "self.logits(x)"),
    ("the gate not applied", "activation(gate(x)) * widen(x)", "activation(gate(x))"),
    ("epsilon of LayerNorm fixed", "scale, shift, eps)\n", "scale, shift, 1e-5)\n"),
    ("epsilon of RMSNorm fixed", "shape, scale, eps)\n    shift", "shape, scale, 1e-5)\n    shift"),
    ("hooks overlooked", "or m._forward_hooks or", "or"),
    ("other modules unrolled", "type(m) not in _KNOWN", "False"),
    ("ALiBi unrolled", 'and model.config.positions != "alibi"', ""),
]
