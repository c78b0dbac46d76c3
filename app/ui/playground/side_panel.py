"""Beside a conversation: the prompt to work on, its variables, what the next turn sends, tools, limits and files."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import assert_never

from nicegui import ui

from app.domain.agents import Agent, Behaviour, Limits, PromptBehaviour, WorkflowBehaviour, model_words
from app.domain.errors import NotFound, StorageError
from app.domain.events import Entry
from app.domain.sessions import Session
from app.domain.values import size
from app.ui.agents.nodes_note import nodes_note
from app.ui.conversation.artifact_buttons import save
from app.ui.conversation.tool_body import cut
from app.ui.elements.addresses import build_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.modes import show_all_button
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import named_dialog
from app.ui.graph.run_graph import RunGraph
from app.ui.playground.context_bar import ContextBar
from app.ui.playground.prompt_panel import PromptPanel
from app.ui.playground.tool_switches import allowed_tools, tool_rows
from app.ui.playground.variables_panel import VariablesPanel
from app.workbench import Workbench

_HIDE = "() => showSide(false)"


class SidePanel(ui.element):
    """`show` takes the session as of now, `show_files` its files; `on_change` is called when it was changed here."""

    def __init__(
        self,
        workbench: Workbench,
        session: Session,
        *,
        on_change: Callable[[], object],
        on_built: Callable[[], Awaitable[None]],
    ) -> None:
        scrim = ui.element("button").classes("side-scrim").on("click", js_handler=_HIDE)
        scrim.props('type=button tabindex=-1 aria-label="Close prompt and settings" aria-keyshortcuts=Escape')
        super().__init__("aside")
        self.classes("session-side").props('aria-label="Prompt and settings" data-testid=side-panel')
        self._workbench = workbench
        self._contents = workbench.contents
        self._session = session
        self._on_change = on_change
        self._files: Mapping[str, str] = {}
        self._graph: RunGraph | None = None
        self._prompt: PromptPanel | None = None
        self._on_built = on_built
        self.built = False
        """What is in it comes once the conversation beside it is seen, and `on_built` is called."""
        with self:
            close = icon_button("close", "Close this panel", testid="side-close").classes("side-close")
            close.on("click", js_handler=_HIDE)
            ui.timer(0, self._build, once=True)

    async def _build(self) -> None:
        with self:
            self._prompt = self._prompt_panel(self._session)
            self._variables = VariablesPanel(self._workbench, self._session, self._on_change)
            self._variables.visible = self._prompt is not None
            self._context = ContextBar(self._workbench, self._session.id)
            self._context.visible = self._prompt is not None
            self._tools = ui.html(sanitize=False, tag="section").classes("side-section")
            self._tools.props("aria-label=Tools")
            on_click_of(self._tools, "tool", self._tool_clicked, along=("action",))
            self._settings = ui.html(sanitize=False, tag="section").classes("side-section")
            self._listed = ui.html(_files({}), sanitize=False).classes("side-section")
            on_click_of(self._listed.props("data-testid=session-files"), "path", self._open_file)
            show_all_button(self._workbench.preferences, testid="panel-show-all")
        self.built = True
        self.show(self._session)
        await self._on_built()

    def show(self, session: Session) -> None:
        """Show the session and its agent as they are now."""
        self._session = session
        if not self.built:
            return
        if self._prompt is not None:
            self._prompt.show(session)
        if self._graph is not None and isinstance(self._used, WorkflowBehaviour):
            self._graph.show(self._used.workflow)
        self._show_edited()
        self._settings.set_content(_settings(self._used, session.model))

    async def follow(self, run_id: str, entries: Sequence[Entry]) -> None:
        """Let the nodes of a workflow light up as they stand in that run."""
        if self._graph is not None:
            await self._graph.follow(run_id, entries)

    def look(self) -> None:
        """Take over what another tab typed."""
        if self._prompt is not None:
            self._prompt.look()

    async def count_context(self) -> str:
        """Count what the next turn sends; gives it on one line with its cost.

        Empty while it is not known, and for a workflow, whose nodes send each their own.
        """
        if self._prompt is None:
            return ""
        await self._context.refresh()
        return self._context.summary

    async def count_message(self, text: str) -> str:
        """Count the message that is being written in; gives the same."""
        if self._prompt is None:
            return ""
        await self._context.typed(text)
        return self._context.summary

    @property
    def _agent(self) -> Agent:
        return self._workbench.agents.get(self._session.agent_id)

    @property
    def _used(self) -> Behaviour:
        """What the session's next run does."""
        return self._agent.variant(self._session.variant).behaviour

    def _prompt_panel(self, session: Session) -> PromptPanel | None:
        match self._used:
            case PromptBehaviour():
                return PromptPanel(self._workbench, session, on_edit=self._show_edited, on_saved=self._on_change)
            case WorkflowBehaviour(workflow=workflow):
                nodes_note(workflow, build_address(self._agent.slug))
                self._graph = RunGraph(workflow)
                return None
            case _:
                assert_never(self._used)

    def _show_edited(self) -> None:
        edited = self._used if self._prompt is None else self._prompt.behaviour
        self._variables.show(self._session, edited)
        toolbox = self._workbench.tools
        allowed = allowed_tools(self._session.tools_allowed, toolbox)
        if self._prompt is not None:
            allowed = joined(tool_rows(self._used, toolbox, off=self._session.tools_off, edited=edited), allowed)
        self._tools.set_content(joined(tag("h2", "Tools"), allowed) if allowed else "")

    async def _tool_clicked(self, name: str, action: str) -> None:
        if action == "remove" and self._prompt is not None:
            behaviour = self._prompt.behaviour
            left = tuple(choice for choice in behaviour.tools if choice.name != name)
            self._prompt.change(behaviour.model_copy(update={"tools": left}))
            return
        with problems_shown():
            if action == "ask-again":
                await self._workbench.pauses.ask_again(self._session.id, name)
            else:
                await self._workbench.sessions.change(self._session.id, partial(_with_switched, name=name))
        self._on_change()

    async def show_files(self, files: Mapping[str, str]) -> None:
        """List the files: path to sha256."""
        self._files = files
        sizes = {path: await self._size(digest) for path, digest in files.items()}
        self._listed.set_content(_files(sizes))

    async def _size(self, digest: str) -> str:
        try:
            return size(await self._contents.size(digest))
        except (NotFound, StorageError):
            return "missing"

    async def _open_file(self, path: str) -> None:
        if path not in self._files:
            return
        digest = self._files[path]
        content = await self._content(digest)
        with named_dialog(path) as dialog, ui.card().classes("dialog-card").props("data-testid=file-view"):
            with ui.element("div").classes("row-line fill"):
                ui.label(path).classes("section-title truncate grow")
                icon_button("close", "Close", dialog.close)
            ui.html(content, sanitize=False).classes("tool-body fill")
            button("Download", partial(self._download, digest, path), icon="download")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _content(self, digest: str) -> Html:
        try:
            content = await self._contents.get(digest)
            return cut(content.decode())
        except (NotFound, StorageError) as problem:
            return tag("p", str(problem), cls="faint")
        except UnicodeDecodeError:
            return tag("p", "This file is not text. Download it to open it in another program.", cls="faint")

    async def _download(self, digest: str, path: str) -> None:
        """What is shown, though the file may be another one by now, or gone."""
        try:
            await save(self._contents, digest, path)
        except (NotFound, StorageError) as problem:
            notify(str(problem))


def _with_switched(session: Session, name: str) -> Session:
    """The session with that tool switched the other way."""
    off = session.tools_off
    left = tuple(other for other in off if other != name) if name in off else (*off, name)
    return session.model_copy(update={"tools_off": left})


def _files(sizes: Mapping[str, str]) -> Html:
    rows = joined(*(_file_row(path, octets) for path, octets in sorted(sizes.items())))
    none = tag("p", "No files yet. What the agent writes appears here.", cls="faint")
    return joined(tag("h2", "Files"), rows or none)


def _file_row(path: str, octets: str) -> Html:
    return tag(
        "button",
        icon("description"),
        tag("span", path, cls="truncate"),
        tag("span", octets, cls="faint"),
        type="button",
        cls="file-row",
        data_path=path,
        data_testid="session-file",
        title=f"Show {path}",
    )


def _money(limits: Limits) -> str:
    session = f"${limits.session_cost:g} a session, " if limits.session_cost else ""
    return f"${limits.run_cost:g} a run, {session}${limits.day_cost:g} a day"


def _asked(behaviour: PromptBehaviour) -> dict[str, str]:
    parameters = behaviour.parameters
    return {
        "Temperature": "provider's choice" if parameters.temperature is None else f"{parameters.temperature:g}",
        "Answer at most": plural(parameters.max_tokens, "token"),
        "Steps at most": f"{behaviour.limits.max_steps}",
    }


def _settings(behaviour: Behaviour, chosen: str | None) -> Html:
    limits = behaviour.limits
    facts = {
        "Model": model_words(behaviour, chosen),
        **(_asked(behaviour) if isinstance(behaviour, PromptBehaviour) else {}),
        "Time at most": f"{limits.total_time:g} s",
        **({"Tokens at most": f"{limits.run_tokens:,} a run"} if limits.run_tokens else {}),
        "Money at most": _money(limits),
    }
    rows = joined(
        *(
            joined(tag("dt", name, cls=cls), tag("dd", value, cls=cls))
            for name, value in facts.items()
            for cls in (None if name in ("Model", "Money at most") else "developer-only",)
        )
    )
    return joined(tag("h2", "Limits of the next run"), tag("dl", rows, cls="facts-list"))
