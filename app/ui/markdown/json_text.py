"""JSON with one value on each line, also while it is still being written."""

_DEEPEST = 40
"""Levels that are indented: of text that only opens brackets each line would be longer than the one before."""


def begins_as_json(text: str) -> bool:
    """Whether the text may be a JSON object or array, as far as its beginning tells."""
    return text.lstrip()[:1] in ("{", "[")


def indented(text: str) -> str:
    """The JSON with one value on each line; numbers and strings stay as they are written."""
    return JsonIndenter().feed(text)


class JsonIndenter:
    """Takes JSON piece by piece; all that `feed` gives, put together, is the same JSON indented.

    Nothing but white space changes, and outside of the outermost brackets not even that: the text may be anything.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._opened = False
        """The last thing was an opening bracket: whether a line follows depends on what comes."""
        self._in_word = False
        self._spaced = False

    def feed(self, text: str) -> str:
        return "".join(map(self._character, text))

    def _character(self, one: str) -> str:
        if self._in_string:
            self._go_on_in_string(one)
            return one
        if self._depth == 0 and one not in "{[":
            return one
        if one.isspace():
            self._spaced = True
            return ""
        before = self._before(one)
        self._opened = self._spaced = False
        self._in_word = one not in "{[}],:"
        if self._in_word:
            self._in_string = one == '"'
            return before + one
        return before + self._structure(one)

    def _before(self, one: str) -> str:
        """What stands between the last character and this one."""
        if one in "}]":
            self._depth -= 1
            return "" if self._opened else self._line()
        if self._opened:
            return self._line()
        return " " if self._spaced and self._in_word and one not in ",:" else ""

    def _go_on_in_string(self, one: str) -> None:
        if self._escaped:
            self._escaped = False
        elif one == "\\":
            self._escaped = True
        elif one == '"':
            self._in_string = False

    def _structure(self, one: str) -> str:
        match one:
            case "{" | "[":
                self._depth += 1
                self._opened = True
                return one
            case ",":
                return one + self._line()
            case ":":
                return ": "
            case _:
                return one

    def _line(self) -> str:
        return "\n" + "  " * min(self._depth, _DEEPEST)
