"""The tools there are, found by name or kit, and called."""

import difflib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from app.domain.errors import InvalidArguments, UnknownTool
from app.domain.messages import ToolCall
from app.domain.tool_settings import ToolSetting
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.tools.function.arguments import InvalidTool
from app.tools.function.output import bounded
from app.tools.function.printing import PrintingContext
from app.tools.ports import RunnableTool, ToolSettings, ToolSource

MOST_NAMES = 40
LONGEST_NAME = 100
"""Characters of a name that a model made up; each is compared with each of all names."""
BUILT_IN = "Built in"
_WEB = ("http_get", "web_search")
"""Of those that are built in, the ones that read more than the session holds."""


class Undecided:
    """The settings where nobody has set anything."""

    revision = 0

    def get(self, name: str) -> ToolSetting:  # noqa: ARG002  the same for every tool
        return ToolSetting()


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as the Tools page lists it."""

    source: str
    tool: RunnableTool
    setting: ToolSetting

    @property
    def spec(self) -> ToolSpec:
        """What models are told: the tool's face with the description that was set in place of its own."""
        own = self.tool.spec
        said = self.setting.description
        return own if said is None else own.model_copy(update={"description": said})


class Toolset:
    """Tools as they were at one moment, which stay callable until `release`. Names may be written with `-` or `_`."""

    def __init__(self, listed: Mapping[str, ListedTool], releases: Sequence[Callable[[], None]] = ()) -> None:
        self._listed = listed
        self._releases = releases

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        """Run the tool. Raises `UnknownTool`, `InvalidArguments` or another `ToolError` for the model to see."""
        listed = self._listed.get(canonical_name(call.name))
        if listed is None:
            raise UnknownTool(self._unknown(call.name))
        if call.malformed is not None:
            raise InvalidArguments(_malformed(listed.spec.name, call.malformed))
        printing = PrintingContext.of(context)
        try:
            output = await listed.tool.run(call.arguments, printing)
        finally:
            printed = printing.finish()
        return bounded(output.model_copy(update={"printed": output.printed or printed}))

    def reads_outside(self, name: str) -> bool:
        """Whether what the tool gives back may come from outside of the session."""
        listed = self._listed.get(canonical_name(name))
        return listed is not None and (listed.source != BUILT_IN or listed.tool.spec.name in _WEB)

    def label(self, name: str) -> str:
        """Whose the tool is and its name; empty for one of the app itself, and where there is none."""
        listed = self._listed.get(canonical_name(name))
        return listed.tool.label if listed else ""

    def release(self) -> None:
        """Let go of what newer versions have replaced."""
        releases, self._releases = self._releases, ()
        for release in releases:
            release()

    def _unknown(self, name: str) -> str:
        name = name[:LONGEST_NAME]
        near = difflib.get_close_matches(canonical_name(name), self._listed, n=3)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        names = sorted(self._listed)
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"There is no tool {name!r}.{guess} There are: {', '.join(names[:MOST_NAMES]) or 'none'}{more}."


class Registry:
    """The engine's toolbox. Names of tools and kits may be written with `-` or `_`."""

    def __init__(
        self,
        tools: Iterable[RunnableTool],
        *,
        sources: Sequence[ToolSource] = (),
        settings: ToolSettings | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`close` ends what `tools` have in common. Raises `InvalidTool` when two of them have the same name.

        Between sources the first keeps a name; `clashes` tells of the others.
        """
        self._close = close
        self._sources = sources
        self._settings = settings or Undecided()
        self._built_in: dict[str, RunnableTool] = {}
        for tool in tools:
            if tool.spec.name in self._built_in:
                raise InvalidTool(f"There are two tools named {tool.spec.name!r}. Rename one of them.")
            self._built_in[tool.spec.name] = tool
        self._made_of: tuple[int, ...] | None = None
        self._listed: dict[str, ListedTool] = {}
        self._kits: dict[str, list[ListedTool]] = {}
        self._clashes: tuple[str, ...] = ()

    @property
    def revision(self) -> tuple[int, ...]:
        """Another one after every change of tools or settings."""
        return (self._settings.revision, *(source.revision for source in self._sources))

    def listed(self) -> tuple[ListedTool, ...]:
        """Every tool, those that are off too."""
        return tuple(self._current().values())

    def clashes(self) -> tuple[str, ...]:
        """A sentence for each tool that is left out because another one had its name first."""
        self._current()
        return self._clashes

    def all(self) -> tuple[ToolSpec, ...]:
        """The tools that are on."""
        return tuple(listed.spec for listed in self._current().values() if listed.setting.enabled)

    def specs(self, names: tuple[str, ...]) -> tuple[ToolSpec, ...]:
        """The tools behind names of tools and kits, each once, in that order; unknown and disabled ones left out."""
        behind = (listed for name in names for listed in self._behind(canonical_name(name)))
        found = {listed.tool.spec.name: listed.spec for listed in behind if listed.setting.enabled}
        return tuple(found.values())

    def missing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names behind which there is nothing, not even a tool that is off."""
        return tuple(name for name in names if not self._behind(canonical_name(name)))

    def label(self, name: str) -> str:
        """Whose the tool is as of now, and its name; empty for one of the app itself, and where there is none."""
        return Toolset(self._current()).label(name)

    def lease(self) -> Toolset:
        """The tools as of now, for a run or a call by hand; release it at the end."""
        return Toolset(self._current(), tuple(source.hold() for source in self._sources))

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        """Run the tool as of now; raises like `Toolset.call`."""
        lease = self.lease()
        try:
            return await lease.call(call, context)
        finally:
            lease.release()

    async def close(self) -> None:
        """End the processes that tools have started, those of each source whatever another one raises."""
        async with AsyncExitStack() as closing:  # the last one first
            if self._close:
                closing.push_async_callback(self._close)
            for source in reversed(self._sources):
                closing.push_async_callback(source.close)

    def _behind(self, name: str) -> Sequence[ListedTool]:
        """The tool of that name, or those of the kit, also where they are off."""
        current = self._current()
        return [current[name]] if name in current else self._kits.get(name, [])

    def _current(self) -> dict[str, ListedTool]:
        """Every tool by name; made again after a change, so that a lease may keep the one it got."""
        if self._made_of != self.revision:
            made_of = self.revision
            self._listed, self._clashes = self._merged()
            self._kits = {}
            for listed in self._listed.values():
                if kit := listed.tool.spec.kit:
                    self._kits.setdefault(kit, []).append(listed)
            self._made_of = made_of
        return self._listed

    def _merged(self) -> tuple[dict[str, ListedTool], tuple[str, ...]]:
        listed: dict[str, ListedTool] = {}
        clashes: list[str] = []
        for source, tools in ((BUILT_IN, self._built_in), *((one.title, one.tools()) for one in self._sources)):
            for name, tool in tools.items():
                if name in listed:
                    clashes.append(f"{name}: of {listed[name].source}; the one of {source} is left out. Rename it.")
                else:
                    listed[name] = ListedTool(source, tool, self._settings.get(name))
        return listed, tuple(clashes)


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
