"""Errors in plain words."""

from __future__ import annotations

import re

# (family, patterns of the text, in plain words). Two errors of one family count as the same error.
_BY_TEXT = [
    (
        "shapes",
        r"shapes cannot be multiplied|must match the size of tensor|size mismatch|batch2 tensor to be"
        r"|inconsistent tensor size|must match the existing size|does not match the shape|broadcast"
        r"|Sizes of tensors must match|stack expects each|einsum\(\): (operands do not|the number)"
        r"|mismatch in dimension|not aligned|shape mismatch|Expected size|sizes don't match"
        r"|normalized_shape=|expected input with shape",
        "The shapes of two tensors do not fit each other. Print `x.shape` for the tensors of this line and "
        "compare the axes that have to match.",
    ),
    (
        "view",
        r"shape '.*' is invalid for input of size",
        "`view` and `reshape` keep the number of entries: the sizes of the new shape must multiply to as "
        "many as the tensor has.",
    ),
    (
        "stride",
        r"view size is not compatible",
        "`view` needs the entries to lie in order in memory; after a transpose they do not. `reshape` "
        "copies where it has to.",
    ),
    (
        "axis",
        r"Dimension out of range|axis -?\d+ is out of bounds|number of dims don't match"
        r"|number of dimensions in the tensor|dims doesn't match"
        r"|dimension specified as",
        "An axis was named that the tensor does not have. Axes count from 0, or from −1 backwards.",
    ),
    (
        "index",
        r"out of range|out of bounds|too many indices",
        "An index lies outside of what it points into. The last entry of n has the index n − 1.",
    ),
    (
        "dtype",
        r"same dtype|expected scalar type|Found dtype|dtype.*but got|should be the same|result type .* cast",
        "Two tensors of different dtypes meet. Make the new tensor with the dtype of its inputs, for "
        "instance `torch.zeros(…, dtype=x.dtype)`.",
    ),
    (
        "integers",
        r"not implemented for '(Long|Int|Short|Bool)|could not infer output dtype",
        "This works on floats only, and the tensor holds integers or booleans. `.float()` makes floats.",
    ),
    (
        "mask",
        r"only supports boolean masks",
        "A mask must be boolean: True and False, not 1.0 and 0.0.",
    ),
    (
        "call",
        r"invalid combination of arguments|must be (tuple of )?Tensors?, not|missing \d+ required positional",
        "A function was called with arguments that it does not take. `help(…)` shows what it takes.",
    ),
    (
        "device",
        r"same device|is on cpu|device type|meta",
        "Tensors on different devices meet. Make new tensors on the device of the inputs: `device=x.device`.",
    ),
    (
        "leaf",
        r"leaf [Vv]ariable.*in-place|a view of a leaf",
        "An input that carries a gradient was changed in place. Make a new tensor instead.",
    ),
    (
        "grad",
        r"does not require grad|Can't call numpy\(\) on Tensor",
        "A gradient is asked for where there is none, or a tensor that carries one is turned into numpy. "
        "`detach()` cuts it off.",
    ),
    (
        "truth",
        r"Boolean value of Tensor|truth value of an array",
        "An `if`, `and`, `or`, `not` or Python's `max` was given a whole tensor. Use `&`, `|`, `~` or "
        "`torch.where` for all entries at once.",
    ),
    (
        "scalar",
        r"converted to Scalar|converted to Python scalars|only one element tensors",
        "A tensor with several entries was used as a single number.",
    ),
    (
        "none",
        r"NoneType",
        "A variable is None there. A function without `return` gives None; so do methods that work in "
        "place on a list, such as `append`.",
    ),
]

_BY_TYPE = [
    (RecursionError, "The function calls itself without end."),
    (ModuleNotFoundError, "There is no module of this name here."),
    (UnboundLocalError, "A variable is read before it is set inside the function."),
    (NameError, "Python does not know this name. Is it misspelled, or its import missing?"),
    (AttributeError, "The object has nothing of this name. Is it misspelled, or the object of another type?"),
    (ZeroDivisionError, "Something is divided by zero."),
    (KeyError, "A dictionary has no entry under this key."),
    (AssertionError, "An `assert` in the code does not hold."),
    (MemoryError, "There is not enough memory for this. Is a size larger than meant?"),
    (KeyboardInterrupt, "The code itself raised KeyboardInterrupt."),
    (SystemExit, "The code asked Python to exit. A function gives its result back with `return`."),
    (StopIteration, "`next` was asked for more than there is."),
    (EOFError, "The code waits for someone to type something."),
    (IndexError, "An index lies outside of what it points into. The last entry of n has the index n − 1."),
    (TypeError, "Something was called or combined in a way that its type does not allow."),
]


def _text(error: BaseException) -> str:
    """`str(error)`, whatever the exception is."""
    try:
        return str(error)
    except BaseException:
        return "(its text cannot be shown)"


def _known(error: BaseException) -> tuple[str, str] | None:
    if isinstance(error, RuntimeError | ValueError | IndexError | TypeError | AttributeError):
        text = _text(error)
        return next(((name, words) for name, known, words in _BY_TEXT if re.search(known, text)), None)
    return None


def family(error: BaseException) -> str:
    """A short word for the kind of error; the same for `matmul` and `einsum` given unfitting shapes."""
    known = _known(error)
    return known[0] if known else type(error).__name__


def in_plain_words(error: BaseException) -> str:
    """What an error usually means, or an empty string."""
    known = _known(error)
    if known:
        return known[1]
    return next((words for kind, words in _BY_TYPE if isinstance(error, kind)), "")


def error_text(error: BaseException, longest: int = 300) -> str:
    """The type and the first line of the text, shortened."""
    lines = _text(error).strip().splitlines()
    first = lines[0] if lines else ""
    first = first if len(first) <= longest else first[: longest - 1] + "…"
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def same_error(one: BaseException, other: BaseException) -> bool:
    """Whether two errors are of the same type and family. A misspelled name is only like itself."""
    if type(one) is not type(other) or family(one) != family(other):
        return False
    typo = isinstance(one, NameError | ImportError | SyntaxError | AttributeError)
    return not typo or _text(one) == _text(other)
