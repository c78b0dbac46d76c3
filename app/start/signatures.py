"""What NiceGUI asks of every handler, whether it takes an argument, is found out once for each method.

It asks that of three methods of each element, and reading their signatures was a third of what an element takes.
"""

from collections.abc import Callable
from types import FunctionType, MethodType

from nicegui import helpers

_asked = helpers.expects_arguments
_known: dict[FunctionType, bool] = {}


def remember_signatures() -> None:
    """From now on methods of one class are looked at once, however many objects there are."""
    helpers.expects_arguments = expects_arguments


def expects_arguments(func: Callable[..., object]) -> bool:
    """Whether it has to be called with an argument."""
    if not isinstance(func, MethodType) or not isinstance(func.__func__, FunctionType):
        return _asked(func)
    if func.__func__ not in _known:
        _known[func.__func__] = _asked(func)
    return _known[func.__func__]
