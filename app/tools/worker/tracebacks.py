"""Tracebacks as the author of a tool file wants them: the file's own frames."""

import traceback
from collections.abc import Iterator
from pathlib import Path

LONGEST_TRACEBACK = 20_000
LONGEST_TOLD = 4_000
LONGEST_ERROR = 64_000
"""Characters: of a traceback, of its last line, of what a tool tells the model."""


def own_traceback(error: BaseException, path: str) -> str:
    """The traceback with the frames of the file and its folder only, and that of what caused it."""
    found = traceback.TracebackException.from_exception(error, limit=None)
    for one in _chain(found):
        own = [frame for frame in one.stack if is_own(frame.filename, path)]
        one.stack = traceback.StackSummary.from_list(own)
    text = "".join(found.format())
    return cut(text, LONGEST_TRACEBACK)


def own_line(error: BaseException, path: str) -> int | None:
    """The line of the file in which it went wrong, the innermost of them."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    frames = traceback.walk_tb(error.__traceback__)
    lines = [number for frame, number in frames if frame.f_code.co_filename == path]
    return lines[-1] if lines else None


def in_words(error: BaseException) -> str:
    """The last line of its traceback, such as `ZeroDivisionError: division by zero`."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    return cut("".join(traceback.format_exception_only(error)).strip(), LONGEST_TOLD)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}\n[… cut here]\n"


def is_own(filename: str, path: str) -> bool:
    """Whether a frame is of the file at `path`, or of one beside it."""
    return filename == path or Path(filename).parent == Path(path).parent


def _chain(found: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    yield found
    for inner in (found.__cause__, found.__context__, *(found.exceptions or ())):
        if inner is not None:
            yield from _chain(inner)
