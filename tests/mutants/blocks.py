MUTANTS = [
    ("divide by D - 1", "(x - mean).square().mean(-1, keepdim=True)", "x.var(-1, keepdim=True)"),
    (
        "eps outside the root",
        "scale * (x - mean) / torch.sqrt(variance + eps)",
        "scale * (x - mean) / (torch.sqrt(variance) + eps)",
    ),
    ("no shift", "torch.sqrt(variance + eps) + shift", "torch.sqrt(variance + eps)"),
    ("over the sentence", "mean = x.mean(-1, keepdim=True)", "mean = x.mean(-2, keepdim=True)"),
    (
        "RMSNorm takes the mean off",
        "scale * x / torch.sqrt(x.square()",
        "scale * (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.square()",
    ),
    ("LayerNorm's eps not passed on", "self.scale, self.shift, self.eps)", "self.scale, self.shift)"),
    (
        "RMSNorm's eps not passed on",
        "self.scale.shape, self.scale, self.eps)",
        "self.scale.shape, self.scale, 1e-6)",
    ),
    (
        "LayerNorm's eps another",
        "d_model: int, *, eps: float = 1e-5",
        "d_model: int, *, eps: float = 1e-6",
    ),
    ("RMSNorm's eps another", "d_model: int, *, eps: float = 1e-6", "d_model: int, *, eps: float = 1e-5"),
    (
        "encoder: no residual",
        "x = x + self.dropout(attend(self.attention_norm(x)))\n            x = x + self.dropout(self.f",
        "x = self.dropout(attend(self.attention_norm(x)))\n            x = x + self.dropout(self.f",
    ),
    (
        "encoder: norm of the sub-layer, then add",
        "            x = self.attention_norm(x + self.dropout(attend(x)))\n            x = self.feed",
        "            x = x + self.attention_norm(self.dropout(attend(x)))\n            x = self.feed",
    ),
    ("encoder: causal not passed on", '"causal": causal, ', '"causal": False, '),
    ("decoder: the future seen", '"causal": True, ', '"causal": False, '),
    (
        "decoder: the memory's mask forgotten",
        "memory=memory, mask=memory_mask",
        "memory=memory, mask=None",
    ),
    ("decoder: queries not normed", "cross(self.cross_attention_norm(x))", "cross(x)"),
    (
        "decoder: no cross-attention",
        "            x = self.cross_attention_norm(x + self.dropout(cross(x)))\n",
        "",
    ),
]
