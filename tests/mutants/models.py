MUTANTS = [
    (
        "the future seen",
        "x = block(x, mask=mask, causal=True, bias=bias, positions",
        "x = block(x, mask=mask, bias=bias, positions",
    ),
    ("positions restart with a cache: LM", "if positions is None and past:", "if False:"),
    ("positions restart with a cache: decoder", "_from(past, target) if past else None", "None"),
    (
        "penalties restart with a cache",
        "ids.shape[1], past + ids.shape[1], x)",
        "ids.shape[1], ids.shape[1], x)",
    ),
    (
        "encoder: padding read",
        "            x = block(x, mask=mask, bias=bias)\n        return self.norm(x)",
        "            x = block(x, bias=bias)\n        return self.norm(x)",
    ),
    ("source padding read", "memory_mask=source_mask)", "memory_mask=None)"),
    (
        "source padding used for the target",
        "mask=target_mask, memory_mask",
        "mask=source_mask, memory_mask",
    ),
    (
        "no last norm",
        "self.logits(self.norm(x[:, -1:] if last_only else x))",
        "self.logits(x[:, -1:] if last_only else x)",
    ),
    ("no last norm in the encoder", "return self.encoder_norm(x)", "return x"),
    ("the first word's logits", "self.norm(x[:, -1:] if last_only", "self.norm(x[:, :1] if last_only"),
    (
        "embeddings not tied",
        "sublayers=3 * config.n_layers)\n        self.logits.weight = self.embedding.words.weight",
        "sublayers=3 * config.n_layers)",
    ),
    ("embeddings always tied", "if config.tie_embeddings:", "if True:"),
    (
        "embeddings not scaled",
        "math.sqrt(config.d_model) if config.scale_embeddings",
        "1.0 if config.scale_embeddings",
    ),
    (
        "one block repeated",
        "nn.ModuleList(encoder_block(config) for _ in range(config.n_layers))\n        self.decoder",
        "nn.ModuleList([encoder_block(config)] * config.n_layers)\n        self.decoder",
    ),
    ("last maps begin as the others", "/ math.sqrt(sublayers) if last", "if last"),
    (
        "a decoder block counted as two sub-layers",
        "sublayers=3 * config.n_layers",
        "sublayers=2 * config.n_layers",
    ),
    ("biases as torch begins them", "nn.init.zeros_(module.bias)", "pass"),
    ("caches of another number", "if len(given) != len(blocks):", "if len(given) > len(blocks):"),
    ("segments forgotten", "x = x + self.segments(segments)", "pass"),
    ("segments of an encoder without", "elif segments is not None:", "elif False:"),
    ("no norm on the embeddings", "x = self.embedding_norm(x)", "pass"),
]
