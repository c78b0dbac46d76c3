"""Tools that do not fit: above a share of the model's context their schemas are sent once the agent has found them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.domain.agents import ToolLoading
from app.domain.events import RunStarted
from app.domain.messages import Message
from app.domain.streaming import ModelRequest
from app.domain.tools import FIND_TOOLS, GrantedTool, ToolSpec
from app.engine.loop.results import READER
from app.engine.ports import Models, Toolbox

AT_ONCE = frozenset({READER, FIND_TOOLS})
MOST_CHARACTERS_PER_TOKEN = 2
"""That schemas have at the least: nothing is counted that fits by that."""
MOST_KITS = 40


@dataclass(frozen=True)
class Loading:
    models: Models
    toolbox: Toolbox
    share: Callable[[], float]
    """Of a model's context that schemas may fill, from 0 to 1."""

    async def of(self, started: RunStarted, how: ToolLoading, messages: Iterable[Message] = ()) -> RunStarted:
        """The run as it begins: where its tools do not fit, with `find_tools` and without the schemas of the others.

        Sent at once are those that open what is attached to the messages, and those that were called in them.
        """
        finder = self.toolbox.specs((FIND_TOOLS,))
        if how == "all" or not finder or not await self._is_wanted(started, how):
            return started.model_copy(update={"unsent": ()})
        said = tuple(messages)
        types = {part.media_type for message in said for part in message.attachments}
        called = {call.name for message in said for call in message.tool_calls}
        tools = tuple(tool for tool in started.tools if tool.spec.name != FIND_TOOLS)
        unsent = [
            tool.spec
            for tool in tools
            if tool.spec.name not in AT_ONCE | called and not any(tool.spec.opens(kind) for kind in types)
        ]
        if not unsent:
            return started.model_copy(update={"unsent": ()})
        found = GrantedTool(spec=_described(finder[0], unsent))
        return started.model_copy(update={"tools": (found, *tools), "unsent": tuple(spec.name for spec in unsent)})

    async def _is_wanted(self, started: RunStarted, how: ToolLoading) -> bool:
        if how == "on_demand":
            return True
        window = await self.models.window(started.model)
        if window is None:
            return False
        room = window * self.share()
        specs = tuple(tool.spec for tool in started.tools)
        characters = sum(len(spec.model_dump_json()) for spec in specs)
        if characters / MOST_CHARACTERS_PER_TOKEN <= room:
            return False
        empty = ModelRequest(started.model, ())
        with_tools = ModelRequest(started.model, (), tools=specs)
        return await self.models.count_tokens(with_tools) - await self.models.count_tokens(empty) > room


def _described(finder: ToolSpec, unsent: Iterable[ToolSpec]) -> ToolSpec:
    """The finder with what there is to be found."""
    kits = Counter(spec.kit or spec.title or spec.name for spec in unsent)
    listed = ", ".join(f"{kit} ({number})" if number > 1 else kit for kit, number in kits.most_common(MOST_KITS))
    more = f" and {len(kits) - MOST_KITS} more" if len(kits) > MOST_KITS else ""
    return finder.model_copy(update={"description": f"{finder.description}\n\nTo be found: {listed}{more}."})
