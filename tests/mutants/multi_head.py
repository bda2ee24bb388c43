MUTANTS = [
    (
        "heads split by view alone",
        "x.view(*x.shape[:2], -1, self.d_head).transpose(1, 2)",
        "x.reshape(len(x), -1, x.shape[1], self.d_head)",
    ),
    (
        "heads and width swapped",
        "x.view(*x.shape[:2], -1, self.d_head).transpose(1, 2)",
        "x.view(*x.shape[:2], self.d_head, -1).permute(0, 3, 1, 2)",
    ),
    (
        "merged without transposing back",
        "heads.transpose(1, 2).flatten(2)",
        "heads.reshape(len(x), x.shape[1], -1)",
    ),
    ("no last map", "return self.output(heads", "return (heads"),
    (
        "the first head only repeated",
        "k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)",
        "k.repeat(1, group, 1, 1), v.repeat(1, group, 1, 1)",
    ),
    (
        "keys and values swapped",
        "return self._split(k), self._split(v)",
        "return self._split(v), self._split(k)",
    ),
    ("keys from x in cross-attention", "else self.keys_values(memory))", "else self.keys_values(x))"),
    (
        "no bias on cross queries",
        "q = self._split(F.linear(x, self.w_q, bias))",
        "q = self._split(F.linear(x, self.w_q))",
    ),
    (
        "no bias on the memory",
        "F.linear(memory, self.qkv.weight[start:], bias)",
        "F.linear(memory, self.qkv.weight[start:])",
    ),
    ("causal forgotten", "causal=plain)", "causal=False)"),
    (
        "causal forgotten beside a mask",
        "return past if mask is None else past & fit_mask",
        "return past if mask is None else fit_mask",
    ),
    (
        "causal forgotten in the weights",
        "        if causal:\n            mask = self._with_past",
        "        if False:\n            mask = self._with_past",
    ),
    (
        "the mask forgotten",
        "self._shared(k, v), mask, bias=bias, causal",
        "self._shared(k, v), None if mask is None or not causal else mask, bias=bias, causal",
    ),
    (
        "a mask combined unchecked",
        "past & fit_mask(mask, (*q.shape[:-1], k.shape[-2]), q.device)",
        "past & mask",
    ),
    (
        "the bias forgotten in the weights",
        "mask, bias=bias)\n\n    def keys_values",
        "mask)\n\n    def keys_values",
    ),
    (
        "values rotated instead of keys",
        "q, k = self.rotate(q, positions), self.rotate(k, positions)",
        "q, v = self.rotate(q, positions), self.rotate(v, positions)",
    ),
    (
        "queries not rotated",
        "q, k = self.rotate(q, positions), self.rotate(k, positions)",
        "k = self.rotate(k, positions)",
    ),
    ("positions restart with a cache", "start = 0 if cache is None else cache.length", "start = 0"),
    ("given places ignored", "            if positions is None:\n", "            if True:\n"),
    ("the cache starts over", "self.length = end", "self.length = k.shape[-2]"),
    (
        "values stored as keys",
        "self.v[:, :, self.length : end] = v",
        "self.v[:, :, self.length : end] = k",
    ),
    ("rows of keys only", "self.k, self.v = self.k[rows], self.v[rows]", "self.k = self.k[rows]"),
    ("a full cache wraps", "if end > self.k.shape[-2] or", "if end > self.k.shape[-2] + 1 or"),
    ("a cache beside a memory", "            if cache is not None:\n", "            if False:\n"),
    (
        "a cache keeps its dtype",
        "self.k[:, :, :end].to(k.dtype), self.v[:, :, :end].to(v.dtype)",
        "self.k[:, :, :end], self.v[:, :, :end]",
    ),
]
