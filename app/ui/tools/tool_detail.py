"""One tool: what it is, how it did, what models are told of it, its schema, and a call by hand."""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import events, ui

from app.domain.agents import Agent
from app.domain.errors import WorkbenchError
from app.domain.tool_settings import ToolSetting, policy_of
from app.domain.tools import ToolSpec
from app.domain.trace import ToolStats
from app.tools.registry import ListedTool
from app.ui.elements.addresses import TOOLS, agent_address, run_address
from app.ui.elements.buttons import button
from app.ui.elements.format import duration, percent, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import copy_text, notify
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import title_of, visible
from app.ui.markdown.render import code_block, reachable
from app.ui.tools.give_to_agents import gifts_of, give_to_agents
from app.ui.tools.hand_call import HandCallPanel
from app.ui.tools.tool_detail_description import ToolDescription
from app.ui.tools.tool_source_view import source_view
from app.ui.tools.tools_list import failing
from app.workbench import Workbench

MOST_AGENTS = 12
GONE = "This tool is not there any more. Its file, server or request was changed or removed."
_EMIT_CHECKED = "(event) => emit(event.target.checked)"


class ToolDetail(ui.element):
    """`show` takes the tool as it is now; `on_setting` stores what was decided about it."""

    def __init__(
        self,
        workbench: Workbench,
        listed: ListedTool,
        undo: UndoBar,
        *,
        on_setting: Callable[[str, ToolSetting], Awaitable[None]],
    ) -> None:
        super().__init__("div")
        self.classes("tool-detail").props["data-tool-shown"] = listed.spec.name
        self._workbench = workbench
        self._listed = listed
        self._undo = undo
        self._on_setting = on_setting
        with self:
            self._build_head()
            with ui.element("div").classes("tool-columns"):
                self._call = ui.element("div").classes("tool-column")
                with ui.element("div").classes("tool-column"):
                    source_view(workbench, listed)
                    self._build_schema()
        self._show_call()
        self.show(listed)

    def _build_head(self) -> None:
        with ui.element("header").classes("tool-head-panel"):
            ui.html(tag("a", icon("arrow_back"), "All tools", href=TOOLS, cls="tools-back"), sanitize=False)
            self._gone = ui.html(tag("strong", icon("info"), GONE), sanitize=False).classes("notice notice-warn")
            self._gone.props("role=status data-testid=tool-gone")
            with ui.element("div").classes("row-line tool-heading"):
                self._heading = ui.html(sanitize=False).classes("grow tool-heading-words")
                self._switch = ui.html(sanitize=False, tag="label").classes("switch-label")
                self._switch.on("change", self._switched, js_handler=_EMIT_CHECKED)
            self._description = ToolDescription(self._listed, on_change=self._describe)
            self._facts = ui.html(sanitize=False).classes("tool-facts")
            give = button("Give to agent…", self._give, look="quiet", icon="person_add", testid="give-tool")
            give.classes("tool-give")

    async def _give(self) -> None:
        gifts = gifts_of(self._workbench, self._listed.spec)
        await give_to_agents(self._workbench, self._undo, *gifts, on_done=lambda: self.show(self._listed))

    def _build_schema(self) -> None:
        with ui.element("section").classes("panel tool-section developer-only").props('aria-label="Schema"'):
            with ui.element("div").classes("section-head row-line"):
                ui.html("Schema, as models get it", sanitize=False, tag="h2").classes("section-title grow")
                copy = ui.html(_copy_button(), sanitize=False)
                copy.on("click", lambda: copy_text(schema_text(self._listed.spec)))
            self._schema = ui.html(sanitize=False).classes("prose tool-schema").props("data-testid=tool-schema")

    def show(self, listed: ListedTool | None) -> None:
        """Show the tool as it is now, `None` when it is gone; what was typed for a call stays."""
        self._gone.visible = listed is None
        if listed is None:
            return
        before, self._listed = self._listed, listed
        spec = listed.spec
        stats = self._workbench.rows.tool_stats().get(spec.name)
        self._heading.set_content(_heading(listed))
        self._switch.set_content(_switch(listed.setting.enabled))
        self._description.show(listed)
        self._facts.set_content(_facts(stats, users(self._workbench.agents.all(), spec)))
        schema = schema_text(spec)
        self._schema.set_content(reachable(code_block(schema, "json")))
        if spec.parameters != before.spec.parameters:
            self._show_call()

    def _show_call(self) -> None:
        self._call.clear()
        with self._call:
            HandCallPanel(self._workbench, self._listed.spec, self._undo)

    async def _switched(self, event: events.GenericEventArguments) -> None:
        await self._set(self._listed.setting.model_copy(update={"enabled": bool(event.args)}))

    async def _describe(self, text: str | None) -> bool:
        before = self._listed.setting
        is_stored = await self._set(before.model_copy(update={"description": text}))
        if is_stored and text is None and before.description is not None:
            self._undo.show(
                "Models are told its own description again", partial(self._describe_again, before.description)
            )
        return is_stored

    async def _describe_again(self, text: str) -> None:
        """Undo what took these words away, unless others were written since, be it on this page opened anew."""
        setting = self._workbench.data.tool_settings.get(self._listed.spec.name)
        if setting.description is None:
            await self._set(setting.model_copy(update={"description": text}))
        else:
            notify("Models were told something else since, which stays.")

    async def _set(self, setting: ToolSetting) -> bool:
        """Whether it was stored; else that is said."""
        try:
            await self._on_setting(self._listed.spec.name, setting)
        except WorkbenchError as problem:
            notify(str(problem))
            self._switch.set_content("")  # the browser has moved it already
            self.show(self._listed)
            return False
        return True


def schema_text(spec: ToolSpec) -> str:
    """What a model is sent of the tool, as JSON."""
    sent = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return json.dumps(sent, indent=2, ensure_ascii=False)


def users(agents: Sequence[Agent], spec: ToolSpec) -> list[Agent]:
    """The agents whose active variant may use the tool, by its name or its kit's."""
    return [agent for agent in agents if policy_of(agent.active_variant.behaviour, spec.name, spec.kit) != "off"]


def _heading(listed: ListedTool) -> Html:
    spec = listed.spec
    chips = [tag("span", visible(listed.tool.label or listed.source), cls="chip")]
    if spec.kit:
        chips.append(tag("span", icon("category"), spec.kit, cls="chip", title="Kit"))
    chips += [
        tag("span", icon(symbol), words, cls=f"chip {cls}", title=title) for symbol, words, title, cls in _flags(spec)
    ]
    return joined(
        tag("span", icon(spec.icon), cls="agent-icon"),
        tag(
            "div",
            tag("h1", title_of(spec), cls="page-title", data_testid="tool-title"),
            tag("div", tag("code", spec.name, cls="agent-slug"), *chips, cls="tool-chips"),
            cls="grow",
        ),
    )


def _flags(spec: ToolSpec) -> list[tuple[str, str, str, str]]:
    """Icon, word, meaning and class of each thing the tool says of itself."""
    flags = []
    if spec.side_effects:
        flags.append(("bolt", "side effects", "It changes something outside of the conversation", "is-warn"))
    if spec.idempotent:
        flags.append(
            ("repeat", "can be repeated", "Calling it twice does the same as once, so it may be tried again", "")
        )
    if not spec.cancellable:
        flags.append(("do_not_disturb_on", "not cancellable", "Once begun it goes on to its end", ""))
    if spec.handles:
        flags.append(("insert_drive_file", ", ".join(spec.handles[:3]), "Files it can open", ""))
    return flags


def _switch(enabled: bool) -> Html:
    box = tag("input", type="checkbox", role="switch", cls="tool-toggle", checked=enabled, data_testid="detail-switch")
    return joined(tag("span", "On" if enabled else "Off"), box)


def _facts(stats: ToolStats | None, agents: Sequence[Agent]) -> Html:
    return joined(tag("dl", *_figures(stats)), tag("div", *_used_by(agents), cls="tool-users"))


def _figures(stats: ToolStats | None) -> list[Html]:
    if stats is None or not stats.calls:
        return [_fact("Calls in runs", "none yet")]
    share = f" ({percent(stats.failures / stats.calls)})" if stats.failures else ""
    return [
        _fact("Calls in runs", f"{stats.calls:,}"),
        _fact("Failures", f"{stats.failures:,}{share}", "is-bad" if failing(stats) else ""),
        _fact("Usual time", duration(stats.p50_ms)),
        *(_fact("Latest run", tag("a", "See it", href=run_address(run_id))) for run_id in stats.recent_runs[:1]),
    ]


def _fact(name: str, value: str | Html, cls: str = "") -> Html:
    return tag("div", tag("dt", name), tag("dd", value, cls=cls))


def _used_by(agents: Sequence[Agent]) -> list[Html]:
    if not agents:
        return [tag("span", "No agent uses it. “Give to agent…” changes that.", cls="faint")]
    links = [
        tag("a", icon(agent.icon), agent.name, href=agent_address(agent.slug), cls="chip tool-user")
        for agent in agents[:MOST_AGENTS]
    ]
    more = len(agents) - MOST_AGENTS
    rest = [tag("span", f"and {plural(more, 'more agent')}", cls="faint")] if more > 0 else []
    return [tag("span", "Used by", cls="faint"), *links, *rest]


def _copy_button() -> Html:
    return tag("button", icon("content_copy"), cls="icon-action", aria_label="Copy the schema", title="Copy")
