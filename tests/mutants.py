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

# module: (what the change does, the source, what it becomes). The source must stand there exactly once.
MUTANTS = {
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
        ("the fused scale forgotten", "scale=_scale(q, scale))", "scale=None)"),
        ("the mask not passed on", "self.value(x), mask, self.scale", "self.value(x), None, self.scale"),
        (
            "queries and keys swapped",
            "attend_fused(self.query(x), self.key",
            "attend_fused(self.key(x), self.query",
        ),
        ("weights of swapped queries", "weights(self.query(x), self.key", "weights(self.key(x), self.query"),
        ("a 0/1 mask taken", "or mask.dtype != torch.bool", "or mask.dtype == torch.uint8"),
        ("a (B, S) mask taken", "fitted.dim() != len(scores) or", "fitted.dim() > len(scores) or"),
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
        ("linear: past forgotten", "q_i @ past + (q_i", "(q_i"),
        ("linear: future visible in a block", "(q_i @ k_i.mT).tril()", "(q_i @ k_i.mT)"),
        ("linear: past not carried on", "past = past + k_i.mT @ v_i", "past = k_i.mT @ v_i"),
        (
            "linear: words before the queries lost",
            "past = k[..., : S - T, :]",
            "past = 0 * k[..., : S - T, :]",
        ),
        ("linear: padding read", "k = k * mask.mT", "pass"),
    ],
    "masks": [
        ("off by one: sees the next word", "j <= i + S - T", "j <= i + 1 + S - T"),
        ("cannot see itself", "j <= i + S - T", "j < i + S - T"),
        ("aligned top-left", "j <= i + S - T", "j <= i"),
        ("the past hidden", "j <= i + S - T", "j >= i + S - T"),
        ("padding counted one too many", "< lengths[:, None]", "<= lengths[:, None]"),
        ("padding polarity flipped", "< lengths[:, None]", ">= lengths[:, None]"),
        ("padding on the rows", "lengths[:, None])[:, None, None]", "lengths[:, None])[:, None, :, None]"),
    ],
}


def mutate(module: str, old: str, new: str, folder: Path) -> None:
    """A copy of the library and its tests in `folder`, with one change in one module."""
    shutil.copytree(ROOT / "transformer_lib", folder / "transformer_lib")
    (folder / "tests").mkdir()
    for name in ("conftest.py", "published.py", f"test_{module}.py"):
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

    code = pytest.main(["-xq", "-p", "no:cacheprovider", f"tests/test_{module}.py"])
    import transformer_lib

    if Path(transformer_lib.__file__).parents[1] != folder.resolve():
        code = 99  # the tests must have read the broken copy
    os._exit(int(code))


def survivors(module: str) -> list[str]:
    """The changes to the module that no test noticed, and those whose test run broke down."""
    found = []
    for what, old, new in MUTANTS[module]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            mutate(module, old, new, folder)
            code = run_tests(module, folder)
            if code != 1:  # pytest: 0 all passed, 1 some failed, else the run itself went wrong
                log = (folder / "log").read_text(encoding="utf-8")
                found.append(f"{what} (exit {code})" + (log[-2000:] if code else ""))
    return found


if __name__ == "__main__":
    import pytest  # noqa: F401  imported here so that each fork has them ready
    import torch  # noqa: F401

    left = survivors(sys.argv[1])
    print(f"{len(MUTANTS[sys.argv[1]]) - len(left)} of {len(MUTANTS[sys.argv[1]])} changes noticed")
    sys.exit("\n".join(["not noticed:", *left]) if left else 0)
