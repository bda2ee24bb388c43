"""Break the library on purpose, one change at a time, and see that its tests turn red.

`python tests/mutants.py attention` tries every change listed below for that module against
`tests/test_attention.py` and names those that no test noticed. torch is imported once; each
broken copy is tested in a process forked from there.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNBROKEN = "nothing changed, and the tests fail"

UNBROKEN = "nothing changed, and the tests fail"

# module: (what the change does, the source, what it becomes). The source must stand there exactly once.
MUTANTS = {
    "attention": [
        ("drop the scale", "1 / math.sqrt(q.shape[-1]) if scale", "1.0 if scale"),
        ("divide by d_k", "1 / math.sqrt(q.shape[-1]) if scale", "1 / q.shape[-1] if scale"),
        ("multiply by the root", "1 / math.sqrt(q.shape[-1]) if scale", "math.sqrt(q.shape[-1]) if scale"),
        ("ignore the caller's scale", "if scale is None else scale", "if True else scale"),
        ("no scale for one word", "q @ k_j * scale for", "q @ k_j for"),
        (
            "softmax over the queries",
            "torch.softmax(scores, dim=-1).masked",
            "torch.softmax(scores, dim=-2).masked",
        ),
        (
            "the same without a mask",
            "return torch.softmax(scores, dim=-1)\n",
            "return torch.softmax(scores, dim=-2)\n",
        ),
        ("flip the mask", "scores.masked_fill(~mask", "scores.masked_fill(mask"),
        ("forget the mask", "scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)", "pass"),
        ("average over an empty row", ", dim=-1).masked_fill(~mask, 0.0)", ", dim=-1)"),
        ("NaN in an empty row", "torch.finfo(scores.dtype).min)", 'float("-inf"))'),
        ("the fused mask forgotten", "attn_mask=mask", "attn_mask=None"),
        ("the fused scale forgotten", "scale=_scale(q, scale)\n    )", "scale=None\n    )"),
        ("the mask not passed on", "self.value(x), mask, self.scale", "self.value(x), None, self.scale"),
        (
            "queries and keys swapped",
            "attend_fused(self.query(x), self.key",
            "attend_fused(self.key(x), self.query",
        ),
        ("weights of swapped queries", "weights(self.query(x), self.key", "weights(self.key(x), self.query"),
        ("the bias forgotten", "scores = scores + fit_bias(bias, scores.shape, scores)", "pass"),
        ("the bias in place of the mask", 'if mask is None else bias.masked_fill(~mask, float("-inf"))', ""),
        ("causal not passed on", "is_causal=causal", "is_causal=False"),
        ("causal with a mask taken", "if causal and (mask is not None or bias", "if causal and (bias"),
        ("causal of other lengths taken", " or q.shape[-2] != k.shape[-2]):", "):"),
        ("one axis too short taken", "any(m not in (1, n)", "any(m > n"),
        ("a head of many taken for one", "and x.shape[1] == 1:", "and x.shape[1] >= 1:"),
        ("a sentence of many taken for one", "and x.shape[0] == 1:", "and x.shape[0] >= 1:"),
        ("a mask elsewhere taken", "if x.device != device:", "if False:"),
        ("the bias keeps its dtype", "q.device).to(q.dtype)", "q.device)"),
        ("an integer bias taken", "or not bias.is_floating_point()", ""),
    ],
    "masks": [
        ("off by one: sees the next word", "j <= i + S - T", "j <= i + 1 + S - T"),
        ("cannot see itself", "j <= i + S - T", "j < i + S - T"),
        ("aligned top-left", "j <= i + S - T", "j <= i"),
        ("the past hidden", "j <= i + S - T", "j >= i + S - T"),
        ("padding counted one too many", "< lengths[:, None]", "<= lengths[:, None]"),
        ("padding polarity flipped", "< lengths[:, None]", ">= lengths[:, None]"),
        ("padding on the rows", "lengths[:, None])[:, None, None]", "lengths[:, None])[:, None, :, None]"),
        ("ids' padding flipped", "ids != pad_id", "ids == pad_id"),
        ("ids' padding on the rows", "(ids != pad_id)[:, None, None]", "(ids != pad_id)[:, None, :, None]"),
        ("window one word wider", "> i - window", ">= i - window"),
        ("window sees the future", "return seen & (torch", "return (seen | True) & (torch"),
        (
            "window aligned top-left",
            "torch.arange(seen.shape[-1] - T, seen.shape[-1], dev",
            "torch.arange(T, dev",
        ),
        ("explained upside down", "if not (mask & future).any()", "if (mask & future).any()"),
        ("columns for rows", "padded = int((~mask).all(-2)", "padded = int((~mask).all(-1)"),
        ("booleans counted as lengths", " or x.dtype == torch.bool:", ":"),
    ],
    "checks": [
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
    ],
    "feed_forward": [
        ("no non-linearity", "self.narrow(self.activation(self.widen(x)))", "self.narrow(self.widen(x))"),
        ("always GELU", "self.narrow(self.activation(self.widen(x)))", "self.narrow(F.gelu(self.widen(x)))"),
        ("GELU approximated", '"gelu": F.gelu,', '"gelu": partial(F.gelu, approximate="tanh"),'),
        (
            "the gate on the wrong map",
            "self.activation(self.gate(x)) * self.widen(x)",
            "self.activation(self.widen(x)) * self.gate(x)",
        ),
        (
            "the gate added",
            "self.activation(self.gate(x)) * self.widen(x)",
            "self.activation(self.gate(x)) + self.widen(x)",
        ),
        (
            "mixes words",
            "return self.narrow(self.activation(self.widen(x)))",
            "return self.narrow(self.activation(self.widen(x))) + x.mean(-2, keepdim=True) * 1e-3",
        ),
        ("twice as wide", "4 * d_model if d_ff is None", "2 * d_model if d_ff is None"),
        ("a gated width too narrow", "8 * math.ceil(d_model / 3)", "8 * (d_model // 3)"),
        ("unknown activations let through", "if activation not in ACTIVATIONS:", "if False:"),
    ],
    "blocks": [
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
    ],
    "configs": [
        ("odd widths let through", "if paired.get(self.positions, 0) % 2:", "if False:"),
        ("the head's width not looked at", '"rotary": d_head}', '"rotary": 2 * d_head}'),
        ("groups not looked at", "if self.n_heads % (self.n_kv_heads or self.n_heads):", "if False:"),
        ("broken sizes let through", "not isinstance(size, int) or size < 1", "size < 1"),
        ("NaN let through", "if not getattr(self, name) > 0:", "if getattr(self, name) <= 0:"),
        ("dropout of all", "0 <= self.dropout < 1", "0 <= self.dropout <= 1"),
        ("rotary base ignored", "partial(rotate_halves, base=config.rotary_base)", "rotate_halves"),
        (
            "cross-attention ungrouped",
            "config.n_heads, n_kv_heads=config.n_kv_heads, bias=config.bias)",
            "config.n_heads, bias=config.bias)",
        ),
        ("always LayerNorm", '"norm": NORMS[config.norm]', '"norm": LayerNorm'),
        ("eps ignored", '        "eps": config.norm_eps,\n', ""),
        ("always pre-norm", '"pre_norm": config.pre_norm', '"pre_norm": True'),
        ("never gated", "GatedFeedForward if config.gated else", "FeedForward if config.gated else"),
        ("embeddings not scaled", "x = self.words(ids) * self.scale", "x = self.words(ids)"),
        (
            "positions scaled too",
            "self.places(x, positions) if self.added",
            "self.places(x / self.scale, positions) * self.scale if self.added",
        ),
        ("places ignored", "self.places(x, positions) if", "self.places(x) if"),
        ("ids not checked", "        check_ids(ids, self.words.weight)\n", ""),
    ],
    "models": [
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
    ],
    "hub": [
        ("any hash will do", "if digest.hexdigest() != sha256:", "if False:"),
        ("a branch taken", "len(revision) != 40 or", ""),
        (
            "only the first block hashed",
            "while block := file.read(1 << 20):",
            "if block := file.read(1 << 20):",
        ),
        ("the revision not asked for", "revision=revision, allow", "revision=None, allow"),
        ("no words about the network", "raise ConnectionError(", "raise OSError("),
    ],
    "weights": [
        ("parts in the other order", "torch.cat(parts)", "torch.cat(parts[::-1])"),
        ("nothing turned", "return tensor.t()", "return tensor"),
        ("left-overs accepted", "elif not any(fnmatch", "elif False and not any(fnmatch"),
        ("nothing may be ignored", "fnmatchcase(name, pattern) for", "False for"),
        ("copies not compared", "if not torch.equal(given[name]", "if False and not torch.equal(given[name]"),
        ("the first digit of a layer only", 're.search(r"\\d+"', 're.search(r"\\d"'),
        ("ties broken", "if id(old) in made:  #", "if False:  #"),
        (
            "shapes not compared",
            "if any((rows, *part.shape[1:]) != old.shape for part in parts):",
            "if False:",
        ),
        ("numbers left in half size", ".to(dtype), requires", ", requires"),
        ("the prefix kept", "name.removeprefix(family.prefix): tensor", "name: tensor"),
        (
            "scale and shift swapped",
            '{"scale": "weight", "shift": "bias"}',
            '{"shift": "weight", "scale": "bias"}',
        ),
    ],
    "families": [
        ("GELU for its approximation", '"gelu_new": "gelu-tanh"', '"gelu_new": "gelu"'),
        ("gate and widening swapped", "mlp.gate_proj", "mlp.up_proj"),
        ("queries and keys swapped", 'self.query "', 'self.key "'),
        ("a fixed epsilon for BERT", 's.get("layer_norm_eps", 1e-12)', "1e-12"),
        ("a fixed epsilon for GPT-2", 's.get("layer_norm_epsilon", 1e-5)', "1e-5"),
        ("a fixed epsilon for Llama", 's.get("rms_norm_eps", 1e-6)', "1e-6"),
        ("a fixed base of the rotation", 'rope.get("rope_theta", s.get("rope_theta", 10000.0))', "10000.0"),
        (
            "the older base not read",
            'rope.get("rope_theta", s.get("rope_theta", 10000.0))',
            'rope.get("rope_theta", 10000.0)',
        ),
        ("no grouped queries", 's.get("num_key_value_heads")', "None"),
        ("sines and cosines in pairs", '"sinusoidal-halves"', '"sinusoidal"'),
        ("embeddings not scaled", 's.get("scale_embedding", False)', "False"),
        (
            "norms of GPT-2 swapped",
            '"blocks.*.attention_norm": "h.*.ln_1"',
            '"blocks.*.attention_norm": "h.*.ln_2"',
        ),
        ("Conv1D not turned", '("c_attn", "c_proj", "c_fc")', '("c_attn", "c_fc")'),
        ("Llama always tied", 's.get("tie_word_embeddings", False)', "True"),
        ("settings not compared", "if settings.get(name, value) != value:", "if False:"),
        ("no norm on the embeddings", "embedding_norm=True", "embedding_norm=False"),
    ],
    "pretrained": [
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
    ],
    "decoding": [
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
    ],
    "generate": [
        ("divided by nothing", "logits.float() / temperature", "logits.float()"),
        ("multiplied by the temperature", "logits.float() / temperature", "logits.float() * temperature"),
        ("top-k of one too many", "logits.topk(top_k).values", "logits.topk(top_k + 1).values"),
        ("top-p without the word that reaches p", "p.cumsum(-1) - p >= top_p", "p.cumsum(-1) >= top_p"),
        ("top-p not put back in order", "enough.scatter(-1, order, enough)", "enough"),
        ("always the likeliest", "if self.temperature == 0:", "if True:"),
        ("the generator forgotten", "generator=self.generator)", "generator=None)"),
        ("words after the end", "new = torch.where(ended, ids[:, -1], new)", "pass"),
        ("never stops", "if ended is not None and ended.all():", "if False:"),
        ("stops when one has ended", "ended.all():", "ended.any():"),
        ("forbidden words written", 'logits[:, never] = float("-inf")', "pass"),
        ("forbidden words in beams", 'log_p[:, never] = float("-inf")', "pass"),
        ("inference numbers handed out", "yield new.clone()", "yield new"),
        ("the end word cut off", "enumerate(row, 1) if word", "enumerate(row, 0) if word"),
        ("scores not added up", "totals = (scores[..., None] + ", "totals = (0 * scores[..., None] + "),
        ("caches not reordered", "reader.select(torch", "(torch"),
        ("no length penalty", "score / length**length_penalty)", "score)"),
        ("any rank may finish", "elif rank < beams and not done[b]:", "elif not done[b]:"),
        ("done at the first text", "if len(finished[b]) == beams and kept:", "if finished[b] and kept:"),
        ("done too late", "done[b] |= kept", "False and kept"),
        ("finished texts not sorted", "key=lambda found: -found.score", "key=lambda found: found.score"),
        ("too few candidates", "topk(each * beams)", "topk(2 * beams)"),
    ],
    "unrolled": [
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
    ],
    "rnn": [
        ("no tanh", "return torch.tanh(x @ w_x.T + h @ w_h.T + b)", "return x @ w_x.T + h @ w_h.T + b"),
        ("the state forgotten", "torch.tanh(x @ w_x.T + h @ w_h.T + b)", "torch.tanh(x @ w_x.T + b)"),
        ("recurrent matrix transposed", "torch.tanh(x @ w_x.T + h @ w_h.T", "torch.tanh(x @ w_x.T + h @ w_h"),
        ("gates in another order", "i, f, g, o = (x", "f, i, g, o = (x"),
        ("the cell not kept", "c = f.sigmoid() * c + i", "c = c + i"),
        ("output without tanh", "o.sigmoid() * c.tanh(), c", "o.sigmoid() * c, c"),
        ("forget bias in the wrong gate", "self.b[d_hidden : 2 * d_hidden]", "self.b[:d_hidden]"),
        ("read backwards", "for x_t in x.unbind(1):", "for x_t in x.flip(1).unbind(1):"),
        ("the given state ignored", "* n if state is None else", "* n if True else"),
        ("layers' states not handed on", "last.append(state)", "last.append(None)"),
        ("start spread too wide", "bound = 1 / math.sqrt(d_hidden)", "bound = 1.0"),
        ("reach of the first output", "out[:, -1].sum(0)", "out[:, 0].sum(0)"),
        ("reach counted from the start", ".mean(0).flip(0)", ".mean(0)"),
        ("reach squared", "sum((0, -1)).sqrt()", "sum((0, -1))"),
        ("shortest chain", "max((length[n] for n", "min((length[n] for n"),
        ("every node counted", "longest + node.name().startswith(products)", "longest + 1"),
    ],
    "positions": [
        (
            "exponent doubled",
            "base ** -(torch.arange(0, width, 2,",
            "base ** -(2 * torch.arange(0, width, 2,",
        ),
        (
            "exponent halved",
            "torch.arange(0, width, 2, device=device",
            "torch.arange(width // 2, device=device",
        ),
        ("fast and slow confused", "return base ** -(", "return base ** ("),
        (
            "always base 10,000",
            "positions, self.d_model, self.base, halves",
            "positions, self.d_model, halves",
        ),
        (
            "cosines first",
            "[angles.sin(), angles.cos()], dim=-1).flatten",
            "[angles.cos(), angles.sin()], dim=-1).flatten",
        ),
        ("halves for pairs", "    if halves:\n", "    if not halves:\n"),
        ("halves with cosines first", "cat([angles.sin(), angles.cos()]", "cat([angles.cos(), angles.sin()]"),
        (
            "places by the batch",
            "T = x.shape[-2]\n    if positions is None",
            "T = x.shape[0]\n    if positions is None",
        ),
        ("the word forgotten", "return x + table.to(x.dtype)", "return table.to(x.dtype).expand_as(x)"),
        ("angles in half precision", "torch.promote_types(x.dtype, torch.float32)", "x.dtype"),
        ("angles in float32 only", "torch.promote_types(x.dtype, torch.float32)", "torch.float32"),
        ("one place past the table", "if size < T else None", "if size + 1 < T else None"),
        (
            "given places not checked",
            "outside = first_outside(fit_positions(positions, x), size)",
            "outside = None",
        ),
        (
            "given places ignored",
            "x + self.table(fit_positions(positions, x))",
            "x + self.table(fit_positions(None, x))",
        ),
        (
            "turned the other way",
            "even * cos - odd * sin, even * sin + odd * cos",
            "even * cos + odd * sin, odd * cos - even * sin",
        ),
        ("no rotation", "even * cos - odd * sin, even * sin", "even * cos + odd * sin, even * sin"),
        (
            "halves turned the other way",
            "first * cos - second * sin, first * sin + second",
            "first * cos + second * sin, second - first * sin",
        ),
        (
            "angles of pairs on halves",
            "first, second = x.chunk(2, dim=-1)",
            "first, second = x[..., 0::2], x[..., 1::2]",
        ),
        ("rotary base ignored", "x.shape[-1], base, _exact(x))", "x.shape[-1], 10000.0, _exact(x))"),
        ("places by head", "if positions.dim() == 2 and x.dim() == 4:", "if False:"),
        (
            "places by sentence misread",
            "if positions.dim() == 2 and x.dim() == 4:",
            "if positions.dim() == 2:",
        ),
        ("a bonus for distance", "return -(slopes", "return (slopes"),
        ("distance not absolute", "(i - j).abs()", "(i - j)"),
        ("slopes from h = 0", "torch.arange(1, n_heads + 1, device", "torch.arange(0, n_heads, device"),
        ("the same slope in every head", "-8 / n_heads * torch", "-8 + 0 * torch"),
        (
            "ALiBi aligned top-left",
            "i = torch.arange(S - T, S, device=device)",
            "i = torch.arange(T, device=device)",
        ),
        ("positions elsewhere taken", "if positions.device != x.device:", "if False:"),
        ("places of another shape taken", "or positions.shape not in shapes:", "or positions.dim() > 2:"),
    ],
    "multi_head": [
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
    ],
    "efficient": [
        ("largest score forgotten", "p = _weights(m_new, scores, hidden)", "p = _weights(m, scores, hidden)"),
        ("sum not shrunk", "total = total * shrink +", "total = total +"),
        ("output not shrunk", "o.mul_(shrink).add_", "o.add_"),
        ("not divided by the sum", "out[i] = _divide(o, total)", "out[i] = o"),
        ("NaN where nothing is read", "x / total.masked_fill(total == 0, 1.0)", "x / total"),
        ("average over an empty row", "weights.masked_fill_(hidden, 0.0)", "weights"),
        ("row sum forgotten", ".sub_(row_sum).mul_(p)", ".mul_(p)"),
        ("scale lost backwards", ".mul_(p).mul_(scale)", ".mul_(p)"),
        ("scale lost", ".mT).mul_(scale)", ".mT)"),
        ("gradient of values from the outputs", "d_v[j].add_(p.mT @ d_i)", "d_v[j].add_(p.mT @ out[i])"),
        ("the caller's scale ignored", "if scale is None else scale", "if True else scale"),
        ("first key block only", "for j in range(first, last, block)", "for j in range(first, last, S)"),
        ("the future visible", "(back < 0) | (back >= reach)", "back >= reach"),
        ("the word hidden from itself", "(back < 0)", "(back <= 0)"),
        ("window one too wide", "(back >= reach)", "(back > reach)"),
        ("blocks before the window taken", "max(0, start + S - T - reach + 1)", "0"),
        ("blocks of the future taken", "last = S if reach is None else end + S - T", "last = S"),
        ("aligned top-left", "[:, None] + k.shape[-2] - q.shape[-2]", "[:, None]"),
        ("mask flipped", "hidden = ~(mask", "hidden = (mask"),
        (
            "weights kept for the backward pass",
            "ctx.options = scale",
            "ctx.kept = torch.softmax(q @ k.mT, -1)\n        ctx.options = scale",
        ),
        ("elu without its 1", "F.elu(x) + 1", "F.elu(x)"),
        ("linear: past forgotten", "o = q_i @ past", "o = 0 * q_i @ past"),
        ("linear: future visible in a block", "(q_i @ k_i.mT).tril()", "(q_i @ k_i.mT)"),
        ("linear: past not carried on", "past = past + k_i.mT @ v_i", "past = k_i.mT @ v_i"),
        ("linear: words before the queries lost", "before = S - T if causal", "before = 0 if causal"),
        ("linear: last block of keys only", "past = past + k_j.mT @ v_j", "past = k_j.mT @ v_j"),
        ("linear: padding read", "phi * mask[..., words, :]", "phi"),
        ("linear: sums in half precision", "torch.promote_types(v.dtype, torch.float32), q", "v.dtype, q"),
    ],
    "cost": [
        ("grouped keys as wide as queries", "(config.n_kv_heads or config.n_heads)", "config.n_heads"),
        ("norms miscounted", "(5 if both else 2) * L", "(4 if both else 2) * L"),
        ("last norm forgotten", "config.pre_norm * (1 + both)", "0"),
        ("norm without its shift", '(2 if config.norm == "layer" else 1)', "1"),
        ("gate's bias forgotten", "bias * ((1 + config.gated) * F + D)", "bias * (F + D)"),
        ("biases counted where there are none", "bias = int(config.bias)", "bias = 1"),
        ("tied map counted twice", ' if not getattr(config, "tie_embeddings", True) else 0', ""),
        ("backward pass as the forward", "batch * (3 if training else 1)", "batch * (2 if training else 1)"),
        ("one FLOP for two", '"scores": L * sum(2 * q', '"scores": L * sum(q'),
        ("cross-attention reads the target", "(S, S, S), (T, S, S)]", "(S, S, S), (T, S, T)]"),
        ("memory's keys made anew", "[(1, 0, source)]", "[(1, source, source)]"),
        ("the new word not read", "reads = [(1, 1, past + 1)]", "reads = [(1, 1, past)]"),
        ("gate without its product", "words * (2 + config.gated) * 2", "words * 2 * 2"),
        ("an encoder with logits", "words = 0 if isinstance(config, EncoderConfig) else T", "words = T"),
        ("keys without values in the cache", "return 2 * L * batch", "return L * batch"),
        ("cache of one layer", "2 * L * batch * words * kv", "2 * batch * words * kv"),
        ("the encoder read for every word", 'read["feed-forward"] //= 2', "pass"),
        ("tied map not read", 'read["logits"] += config.vocab_size * D', "pass"),
        ("one average", '"Adam\'s averages": 2 * n_weights', '"Adam\'s averages": n_weights'),
        ("activation kept twice", '{"relu": 1 + 2', '{"relu": 2 + 2'),
        ("repeated keys not kept", "2 * words * kv * (kv < D)", "0"),
        ("explicit weights not square", "(k if explicit else 1)", "1"),
        ("peak never falls", "self.now -= n_bytes", "pass"),
        ("last instead of peak", "max(self.peak, self.now)", "self.now"),
        ("views counted", "in given | self.alive", "in self.alive"),
        ("slowest call", "Measurement(min(seconds)", "Measurement(max(seconds)"),
        ("exponent upside down", "np.log(sizes), np.log(amounts)", "np.log(amounts), np.log(sizes)"),
        ("offset for slope", "1)[0])", "1)[1])"),
    ],
}


def mutate(module: str, old: str, new: str, folder: Path) -> None:
    """A copy of the library and its tests in `folder`, with one change in one module."""
    shutil.copytree(ROOT / "transformer_lib", folder / "transformer_lib")
    (folder / "tests").mkdir()
    for name in ("conftest.py", "checking.py", "published.py", f"test_{module}.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    path = folder / "transformer_lib" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    if source.count(old) != 1:
        raise SystemExit(f"{module}.py holds {old!r} {source.count(old)} times; a mutant needs exactly one")
    path.write_text(source.replace(old, new), encoding="utf-8")


def run_tests(module: str, folder: Path) -> int:
    """Exit code of pytest on the broken copy, in a forked process, its output in `folder`/log."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    import pytest

    code = 98  # pytest itself broke down, which notices nothing
    try:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # some plugins are imported already, and complain
        code = pytest.main(["-xq", "-p", "no:cacheprovider", f"tests/test_{module}.py"])
        import transformer_lib

        if Path(transformer_lib.__file__).parents[1] != folder.resolve():
            code = 99  # the tests must have read the broken copy
    finally:
        os._exit(int(code))


def survivors(module: str) -> list[str]:
    """The changes to the module that no test noticed, and those whose test run broke down."""
    found = []
    source = (ROOT / "transformer_lib" / f"{module}.py").read_text(encoding="utf-8")
    for what, old, new in [(UNBROKEN, source, source), *MUTANTS[module]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            mutate(module, old, new, folder)
            code = run_tests(module, folder)
            # pytest: 0 all passed, 1 some failed, else the run itself went wrong
            if code != (0 if what == UNBROKEN else 1):
                log = (folder / "log").read_text(encoding="utf-8")
                found.append(f"{what} (exit {code})" + (log[-2000:] if code else ""))
    return found


if __name__ == "__main__":
    import pytest  # noqa: F401  imported here so that each fork has them ready
    import torch  # noqa: F401

    if "published" in (ROOT / "tests" / f"test_{sys.argv[1]}.py").read_text(encoding="utf-8"):
        import transformers  # noqa: F401

    left = survivors(sys.argv[1])
    print(f"{len(MUTANTS[sys.argv[1]]) - len(left)} of {len(MUTANTS[sys.argv[1]])} changes noticed")
    sys.exit("\n".join(["not noticed:", *left]) if left else 0)
