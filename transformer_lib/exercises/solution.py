"""Source text of a reference solution, with the imports and helpers that make it stand alone."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable


def source_with_imports(reference: Callable) -> str:
    """The source of a function or class, preceded by what it uses from its own file.

    Imports bring only the names that are used; helper functions and constants of the file come along
    when the reference (or one of them) uses them.

    Raises:
        OSError: the source cannot be found.

    >>> from transformer_lib.exercises.solution import source_with_imports
    >>> print(source_with_imports(source_with_imports).splitlines()[0])
    import ast
    """
    file = inspect.getsource(sys.modules[reference.__module__])
    lines = file.splitlines()
    tree = ast.parse(file)
    own = textwrap.dedent(inspect.getsource(reference)).strip("\n")
    wanted = _names(ast.parse(own))
    helpers: list[ast.stmt] = []
    found = {reference.__name__}
    while True:  # helpers of helpers
        more = [n for n in tree.body if not found >= _defined(n) and _defined(n) & wanted - found]
        if not more:
            break
        for node in more:
            found |= _defined(node)
            wanted |= _names(node)
        helpers += more
    imports = [text for node in tree.body for text in _import(node, wanted)]
    order = sorted(helpers, key=lambda node: node.lineno)
    blocks = ["\n".join(imports)] if imports else []
    blocks += ["\n".join(lines[_first_line(node) - 1 : node.end_lineno]) for node in order]
    joint = "\n\n\n"
    return joint.join([*blocks, own]) + "\n"


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _defined(node: ast.stmt) -> set[str]:
    """Names that a top-level statement defines, imports aside."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _import(node: ast.stmt, wanted: set[str]) -> list[str]:
    """The import reduced to the wanted names, or nothing."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or getattr(node, "module", "") == "__future__":
        return []
    names = [alias for alias in node.names if (alias.asname or alias.name.split(".")[0]) in wanted]
    if not names:
        return []
    if isinstance(node, ast.Import):
        return [ast.unparse(ast.Import(names=[alias])) for alias in names]
    return [ast.unparse(ast.ImportFrom(module=node.module, names=names, level=node.level))]
