"""What an agent's tools take of its model's context, and whether they are all sent at once."""

from collections.abc import Callable, Mapping
from typing import get_args

from nicegui import background_tasks, ui

from app.domain.agents import PromptBehaviour, ToolLoading
from app.domain.tools import ToolSpec
from app.engine.loop.granting import allowed
from app.llm.tokens import tool_tokens
from app.ui.elements.format import plural, tokens, tokens_about
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.workbench import Workbench

_WORDS: dict[ToolLoading, str] = {
    "auto": "As they fit into the model's context",
    "all": "All of them, with each call of the model",
    "on_demand": "Those that the agent has found, as it needs them",
}


class ToolLoadingForm(ui.element):
    """`on_change` gets what was chosen; `take` counts the tools of another behaviour."""

    def __init__(
        self, workbench: Workbench, behaviour: PromptBehaviour, *, on_change: Callable[[ToolLoading], None]
    ) -> None:
        super().__init__("section")
        self.classes("tool-loading").props('aria-label="What the tools take"')
        self._workbench = workbench
        self._behaviour = behaviour
        with self:
            choice = ui.select(_WORDS, label="Which tools the model is told of", value=behaviour.tool_loading)
            choice.props("outlined dense options-dense stack-label data-testid=tool-loading").classes("number-box")
            choice.on_value_change(lambda: on_change(_chosen(choice.value)))
            self._sizes = LiveHtml().props("role=status data-testid=tool-tokens")
        ui.timer(0, self._count, once=True)

    def take(self, behaviour: PromptBehaviour) -> None:
        """Count again where other tools or another model are chosen."""
        before, self._behaviour = self._behaviour, behaviour
        if _counted(before) != _counted(behaviour):
            background_tasks.create(self._count(), name="count tokens of tools")

    async def _count(self) -> None:
        behaviour, workbench = self._behaviour, self._workbench
        specs = [tool.spec for tool in allowed(workbench.tools, behaviour)]
        sizes = await tool_tokens(specs, behaviour.model)
        window = await workbench.models.window(behaviour.model)
        if behaviour is self._behaviour and not self.is_deleted:
            percent = workbench.preferences.get().tool_percent
            self._sizes.show(sizes_view(specs, sizes, behaviour.tool_loading, window=window, percent=percent))


def sizes_view(
    specs: list[ToolSpec], sizes: Mapping[str, int], how: ToolLoading, *, window: int | None, percent: int
) -> Html:
    """All tools together, then by server or kit and tool, the largest first."""
    if not specs:
        return tag("p", "It has no tools, so they take nothing of the model's context.", cls="faint")
    kits: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        kits.setdefault(spec.kit or spec.name, []).append(spec)
    ordered = sorted(kits.items(), key=lambda pair: -sum(sizes[spec.name] for spec in pair[1]))
    rows = [_kit(name, of_kit, sizes) for name, of_kit in ordered]
    return joined(
        tag("p", _sum_words(sum(sizes.values()), how, window=window, percent=percent), cls="faint"),
        visible(tag("details", tag("summary", f"By tool, {plural(len(specs), 'tool')}"), *rows, cls="tool-sizes")),
    )


def _sum_words(number: int, how: ToolLoading, *, window: int | None, percent: int) -> str:
    too_many = window is not None and number * 100 > percent * window
    share = "" if window is None else f", {100 * number / window:.1f} % of the {tokens(window)} that the model takes"
    limit = f" That is more than the {percent} % that Settings allows." if too_many else ""
    found = how == "on_demand" or (how == "auto" and too_many)
    sent = "The agent is told of those that it finds." if found else "All are sent with each call of the model."
    return f"Its tools take {tokens_about(number)}{share}.{limit} {sent}"


def _kit(name: str, specs: list[ToolSpec], sizes: Mapping[str, int]) -> Html:
    whole = tag("strong", name), tag("span", tokens(sum(sizes[spec.name] for spec in specs)), cls="faint")
    if len(specs) == 1 and not specs[0].kit:
        return tag("p", *whole, cls="tool-size", data_testid="tool-size")
    ordered = sorted(specs, key=lambda spec: -sizes[spec.name])
    parts = (tag("li", spec.name, tag("span", tokens(sizes[spec.name]), cls="faint")) for spec in ordered)
    return tag("div", tag("p", *whole, cls="tool-size", data_testid="tool-size"), tag("ul", *parts))


def _counted(behaviour: PromptBehaviour) -> tuple[object, ...]:
    return behaviour.tools, behaviour.model, behaviour.tool_loading


def _chosen(value: object) -> ToolLoading:
    options: tuple[ToolLoading, ...] = get_args(ToolLoading)
    return next((one for one in options if one == value), "auto")
