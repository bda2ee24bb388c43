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

    left = survivors(sys.argv[1])
    print(f"{len(MUTANTS[sys.argv[1]]) - len(left)} of {len(MUTANTS[sys.argv[1]])} changes noticed")
    sys.exit("\n".join(["not noticed:", *left]) if left else 0)
