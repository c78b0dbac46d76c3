"""Python source as a tree, also where several threads read some."""

import ast
from typing import Literal, overload

_TRIES = 20


@overload
def tree_of(source: str, name: str = ..., mode: Literal["exec"] = ...) -> ast.Module: ...
@overload
def tree_of(source: str, name: str = ..., mode: Literal["eval"] = ...) -> ast.Expression: ...


def tree_of(source: str, name: str = "<text>", mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """What `ast.parse` makes of it, which raises `SyntaxError`, `ValueError`, `RecursionError` and `MemoryError`.

    Up to Python 3.11.7 and 3.12.0 it may fail with a `SystemError`, at no fault of the source, where another thread
    parses at the same moment: https://github.com/python/cpython/issues/106905.
    """
    for _ in range(_TRIES - 1):
        try:
            return ast.parse(source, name, mode)
        except SystemError:
            continue
    return ast.parse(source, name, mode)
