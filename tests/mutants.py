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
        (
            "the given state ignored",
            "* layer.n_states if state is None else",
            "* layer.n_states if True else",
        ),
        ("layers' states not handed on", "last.append(state)", "last.append(None)"),
        ("start spread too wide", "bound = 1 / math.sqrt(d_hidden)", "bound = 1.0"),
        ("reach of the first output", "out[:, -1].sum(0)", "out[:, 0].sum(0)"),
        ("reach counted from the start", ".mean(0).flip(0)", ".mean(0)"),
        ("reach squared", "sum((0, -1)).sqrt()", "sum((0, -1))"),
        ("shortest chain", "max((length[n] for n", "min((length[n] for n"),
        ("every node counted", " + node.name().startswith(products)", " + 1"),
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
