"""The tools there are, found by name or kit, and called."""

import difflib
import json
from collections.abc import Awaitable, Callable, Iterable

from app.domain.errors import InvalidArguments, UnknownTool
from app.domain.messages import ToolCall
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.tools.arguments import InvalidTool
from app.tools.output import bounded
from app.tools.printing import PrintingContext
from app.tools.tool import AnyTool

MOST_NAMES = 40


class Registry:
    """The engine's toolbox. Names of tools and kits may be written with `-` or `_`."""

    def __init__(self, tools: Iterable[AnyTool], *, close: Callable[[], Awaitable[None]] | None = None) -> None:
        """`close` ends what the tools have in common. Raises `InvalidTool` when two have the same name."""
        self._close = close
        self._tools: dict[str, AnyTool] = {}
        for tool in tools:
            if tool.spec.name in self._tools:
                raise InvalidTool(f"There are two tools named {tool.spec.name!r}. Rename one of them.")
            self._tools[tool.spec.name] = tool

    def all(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def kits(self) -> dict[str, tuple[ToolSpec, ...]]:
        """The tools of each kit, by its name."""
        names = dict.fromkeys(spec.kit for spec in self.all() if spec.kit)
        return {kit: tuple(spec for spec in self.all() if spec.kit == kit) for kit in names}

    def specs(self, names: tuple[str, ...]) -> tuple[ToolSpec, ...]:
        """The tools behind names of tools and kits, each once, in that order; unknown names are left out."""
        found = {spec.name: spec for name in names for spec in self._behind(name)}
        return tuple(found.values())

    def missing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if not self._behind(name))

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        """Run the tool. Raises `UnknownTool`, `InvalidArguments` or another `ToolError` for the model to see."""
        tool = self._tools.get(canonical_name(call.name))
        if tool is None:
            raise UnknownTool(self._unknown(call.name))
        if call.malformed is not None:
            raise InvalidArguments(_malformed(tool.spec.name, call.malformed))
        printing = PrintingContext.of(context)
        try:
            output = await tool.run(call.arguments, printing)
        finally:
            printed = printing.finish()
        return bounded(output.model_copy(update={"printed": output.printed or printed}))

    async def close(self) -> None:
        """End the processes that tools have started."""
        if self._close:
            await self._close()

    def _behind(self, name: str) -> tuple[ToolSpec, ...]:
        canonical = canonical_name(name)
        if canonical in self._tools:
            return (self._tools[canonical].spec,)
        return self.kits().get(canonical, ())

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(canonical_name(name), self._tools, n=3)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        names = sorted(self._tools)
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"There is no tool {name!r}.{guess} There are: {', '.join(names[:MOST_NAMES]) or 'none'}{more}."


def _malformed(name: str, text: str) -> str:
    """Why the arguments could not be read, with the place of the mistake."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"The arguments of {name} are no JSON object: {error}{_around(text, error)}. Send them again."
    return f"The arguments of {name} have to be a JSON object, not {type(value).__name__}. Send them again."


def _around(text: str, error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return ""
    return f", near {text[max(0, error.pos - 20) : error.pos + 20]!r}"
