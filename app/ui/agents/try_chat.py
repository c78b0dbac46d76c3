"""A conversation with what is in the editor, saved or not: its runs are kept, and count in no figure of the agent."""

from collections.abc import Callable, Mapping
from functools import partial

from nicegui import ui

from app.domain.provenance import WORKING_COPY
from app.domain.sessions import Session
from app.ui.agents.editor_draft import EditorDraft
from app.ui.agents.editor_tabs import Tab
from app.ui.apps.showing import views_of
from app.ui.conversation.composer import SendAs
from app.ui.conversation.composer_bar import ComposerBar
from app.ui.conversation.conversation import Conversation
from app.ui.conversation.pause_card import DECIDE
from app.ui.conversation.task_line import task_state
from app.ui.conversation.turn import Turn
from app.ui.conversation.turn_actions import do_on_turn
from app.ui.conversation.user_message import BRANCH
from app.ui.elements.addresses import agent_runs_address
from app.ui.elements.buttons import icon_button
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.markdown.live_markdown import LiveMarkdown
from app.workbench import Workbench

IDLE_SECONDS, LIVE_SECONDS = 0.3, 0.05
"""How often it looks for something new; the finer one while a run goes on."""


class TryChat(ui.element):
    """`on_go` gets the tab of the editor in which something has to be done."""

    def __init__(
        self,
        workbench: Workbench,
        live_markdown: LiveMarkdown,
        draft: EditorDraft,
        undo: UndoBar,
        *,
        on_go: Callable[[Tab], None],
    ) -> None:
        super().__init__("section")
        self.classes("try-chat").props('aria-label="Try it" data-testid=try-chat')
        self._workbench, self._draft, self._undo, self._on_go = workbench, draft, undo, on_go
        kept = workbench.sessions.tried(draft.agent.id)
        self._session_id = kept.id if kept else ""
        with self:
            self._build_head()
            self._build_conversation(live_markdown)
            self._composer = ComposerBar(
                key=f"try-{draft.agent.id}",
                text=kept.composer if kept else "",
                placeholder="Try what is in the editor",
                hint="Enter sends. Nothing has to be saved before.",
                on_stop=self._stop,
                waits=False,
                focused=False,
                handles="try-",
                on_send=self._send,
                on_sent=self._sent,
                on_typed=self._keep_typed,
            )
            self._timer = ui.timer(IDLE_SECONDS, self._update)

    def _build_head(self) -> None:
        with ui.element("div").classes("row-line try-head"):
            self._state = ui.html(sanitize=False).classes("grow truncate").props("data-testid=try-state")
            runs = tag(
                "a",
                "Its runs",
                href=f"{agent_runs_address(self._draft.agent.slug, WORKING_COPY)}&behind=1",
                cls="link-button",
                title="The runs of what was tried here; they are in no figure of the agent",
                data_testid="try-runs",
            )
            ui.html(runs, sanitize=False)
            self._clear = icon_button("delete_sweep", "Clear this conversation", self._cleared, testid="try-clear")

    def _build_conversation(self, live_markdown: LiveMarkdown) -> None:
        new_turn = partial(
            Turn,
            agent_icon=self._draft.agent.icon,
            contents=self._workbench.contents,
            live_markdown=live_markdown,
            on_action=self._act,
            show_view=partial(views_of, self._workbench, None),
            task_of=partial(task_state, self._workbench),
        )
        self._conversation = Conversation(self._workbench, new_turn)
        with self._conversation:
            self._welcome = ui.html(_WELCOME, sanitize=False).classes("welcome")

    @property
    def _session(self) -> Session | None:
        """The conversation, where there is one that nobody has cleared."""
        session = self._workbench.sessions.get(self._session_id) if self._session_id else None
        return None if session is None or session.deleted_at is not None else session

    async def _update(self) -> None:
        """Show what is new of the conversation and of the draft it talks to."""
        await self._conversation.update_by(self._follow)

    async def _follow(self) -> None:
        session = self._session
        await self._conversation.show_session(session)
        await self._conversation.follow()
        running = self._conversation.running or self._going_on
        self._welcome.visible = session is None or not session.runs
        self._clear.visible = not self._welcome.visible
        self._composer.show(running=running)
        self._state.set_content(_state(self._draft))
        self._timer.interval = LIVE_SECONDS if running else IDLE_SECONDS

    @property
    def _going_on(self) -> bool:
        return bool(self._session_id) and self._workbench.runs.of_session(self._session_id) is not None

    async def _ready(self) -> Session:
        """The session, whose next run is what is in the editor now."""
        chat, draft = self._workbench.chat, self._draft
        session = self._session or self._workbench.sessions.tried(draft.agent.id)
        if session is None:
            session = await chat.new_session(draft.agent.id, draft.origin, tried=draft.behaviour)
        else:
            session = await chat.try_out(session.id, draft.behaviour, origin=draft.origin)
        self._session_id = session.id
        return session

    async def _send(self, text: str, _how: SendAs) -> None:
        session = await self._ready()
        await self._workbench.chat.send(session.id, text)

    async def run(self, text: str, variables: Mapping[str, str]) -> None:
        """Send the message with these values, which stay the conversation's until others are given."""
        session = await self._ready()
        given = {"variables": dict(variables)}
        await self._workbench.sessions.change(session.id, lambda newest: newest.model_copy(update=given))
        await self._workbench.chat.send(session.id, text)
        await self._sent()

    async def _sent(self) -> None:
        self._conversation.to_latest()
        await self._update()

    async def _keep_typed(self, text: str) -> None:
        session = self._session or (await self._ready() if text else None)
        if session is not None:
            await self._workbench.sessions.change(
                session.id, lambda newest: newest.model_copy(update={"composer": text})
            )

    async def _act(self, turn: Turn, action: str, value: str) -> None:
        with problems_shown():
            match action:
                case "regenerate" | "retry":
                    session = await self._ready()
                    await self._workbench.chat.regenerate(session.id, turn.run_id)
                    await self._sent()
                case "edit" if turn.message is not None:
                    turn.message.edit(partial(self._send_edited, turn))
                case _ if action == BRANCH:
                    await self._workbench.chat.stand_on(self._session_id, value)
                    self._conversation.stay()
                    await self._update()
                case "pick-model":
                    self._on_go("model")
                case _:
                    await do_on_turn(self._workbench, turn, action, value)
                    if action == DECIDE:
                        self._composer.composer.focus()

    async def _send_edited(self, turn: Turn, text: str) -> None:
        with problems_shown():
            session = await self._ready()
            await self._workbench.chat.edit(session.id, turn.run_id, text)
        await self._sent()

    def _stop(self) -> None:
        if (live := self._workbench.runs.of_session(self._session_id)) is not None:
            self._workbench.runs.stop(live.run_id)

    async def _cleared(self) -> None:
        """Begin anew; the runs stay where all runs are."""
        session = self._session
        if session is None:
            return
        self._stop()
        with problems_shown():
            await self._workbench.sessions.delete(session.id)
            back = partial(self._workbench.sessions.restore, session.id)
            self._undo.show("Conversation cleared. Its runs are kept.", back, self._update)
        await self._update()
        self._composer.composer.focus()


def _state(draft: EditorDraft) -> Html:
    words = "Working copy" if draft.changed else f"As in v{draft.origin}"
    title = "Answers as what is in the editor now would, saved or not"
    return tag("span", icon("science"), words, cls="chip", title=title)


_WELCOME = joined(
    tag("span", icon("science"), cls="agent-icon"),
    tag("h2", "Try it before you save it"),
    tag(
        "p",
        "Answers come from the prompt, model and tools as they are in the editor. Their money counts in every ceiling.",
    ),
)
