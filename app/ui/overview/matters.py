"""What waits for a person, each as a line with the buttons that settle it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.agents import Agent
from app.domain.evals.experiments import Experiment
from app.domain.failure_words import WORDS as WHY
from app.domain.sessions import Session
from app.domain.trace import RunRow
from app.tools.mcp.states import ServerState, ServerStatus
from app.ui.elements.addresses import (
    editor_address,
    experiment_address,
    mcp_server_address,
    review_address,
    run_address,
    session_address,
    sign_in_address,
)
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.new_session import UNTITLED
from app.ui.elements.status_pill import SERVER_WORDS

Kind = Literal["run", "job", "queue", "experiment", "server", "copy", "review"]
Action = Literal["resume", "give-up", "again", "sign-in", "consent", "changes", "send", "dismiss", "cancel", "discard"]
WORDS: dict[Action, str] = {
    "resume": "Resume",
    "give-up": "Give up",
    "again": "Try again",
    "sign-in": "Sign in…",
    "consent": "Decide…",
    "changes": "Look and decide…",
    "send": "Send",
    "dismiss": "Dismiss",
    "cancel": "Cancel",
    "discard": "Discard",
}
FIRST: tuple[Action, ...] = ("resume", "again", "sign-in", "consent", "changes", "send")
"""The way on, where there is one."""
NEED_SOMEBODY = ("consent", "changed", "sign-in", "failed")
"""States of MCP servers that nobody but a person ends."""
SETTLED_BY: dict[ServerStatus, tuple[Action, ...]] = {
    "consent": ("consent",),
    "changed": ("changes",),
    "sign-in": ("sign-in",),
    "failed": ("again",),
}


@dataclass(frozen=True)
class Matter:
    kind: Kind
    subject: str
    """The id or name of what it is about."""
    symbol: str
    title: str
    words: str
    address: str
    actions: tuple[Action, ...] = ()
    opens: str = "Open"
    """What its link is called, where that is the way on."""
    target: str | None = None
    """Where the link opens, if not here."""


def run_left(row: RunRow) -> Matter:
    """A run in whose middle the app was closed."""
    words = f"{row.agent.name} was interrupted when the app was closed."
    return Matter(
        "run", row.run_id, "pause_circle", _request(row), words, run_address(row.run_id), ("resume", "give-up")
    )


def job_failed(row: RunRow) -> Matter:
    why = f"failed. {WHY[row.failure].title}" if row.failure else "met a limit" if row.status == "limited" else "failed"
    words = f"{row.agent.name}, in the background, {why}."
    return Matter("job", row.run_id, "error", _request(row), words, run_address(row.run_id), ("again", "dismiss"))


def messages_left(session: Session) -> Matter:
    """Messages behind a run that came to no good end: they wait until somebody sends the first."""
    words = f"{plural(len(session.queue), 'queued message')}, first: {head(session.queue[0].text, 80) or '(no text)'}"
    title, address = session.title or UNTITLED, session_address(session.id)
    return Matter("queue", session.id, "schedule_send", title, words, address, ("send",))


def experiment_left(one: Experiment) -> Matter:
    words = one.why or ("It was interrupted." if one.status == "interrupted" else "It is paused.")
    return Matter("experiment", one.id, "science", one.title, words, experiment_address(one.id), ("resume", "cancel"))


def server_waits(state: ServerState) -> Matter:
    name, words = state.server.name, f"MCP server. {SERVER_WORDS[state.status][0]}."
    if (request := state.sign_in.request) is not None:
        words = f"{words} It asks for {', '.join(request.scopes) or 'nothing in particular'}."
        link = sign_in_address(request.server, request.host, request.scopes)
        return Matter("server", name, "dns", name, words, link, opens=f"Sign in at {request.host}", target="_blank")
    problem = state.problem if state.status == "failed" else state.sign_in.problem
    actions = SETTLED_BY.get(state.status, ())
    return Matter("server", name, "dns", name, f"{words} {head(problem, 120)}", mcp_server_address(name), actions)


def copy_unsaved(agent: Agent) -> Matter:
    words = "What you changed in its editor is not saved as a variant."
    return Matter("copy", agent.id, "edit_note", agent.name, words, editor_address(agent), ("discard",))


def to_review(number: int, experiment: Experiment | None = None) -> Matter:
    """Answers that nobody has rated: failed ones of that experiment, or those of conversations."""
    if experiment is None:
        words = "Answers of your agents that nobody has rated."
        return Matter(
            "review", "", "rate_review", plural(number, "answer"), words, review_address("unreviewed"), (), "Review"
        )
    words = f"They failed in “{head(experiment.title, 60)}”, and nobody has rated them."
    address = review_address("failures", experiment.id)
    return Matter("review", experiment.id, "rate_review", plural(number, "failed answer"), words, address, (), "Review")


def matters_view(matters: Sequence[Matter], *, more: int) -> Html:
    """The lines; `more` are not shown and counted."""
    left = tag("li", f"And {more:,} more.", cls="matter muted") if more else ""
    return tag("ul", *map(_line, matters), left, cls="matters")


def _line(matter: Matter) -> Html:
    buttons = [_button(matter, action) for action in matter.actions]
    look = "text-button" if set(matter.actions) & set(FIRST) else "text-button text-button-primary"
    opens = tag(
        "a",
        matter.opens,
        href=matter.address,
        target=matter.target,
        rel="noopener noreferrer" if matter.target else None,
        cls=look,
        aria_label=f"{matter.opens}: {matter.title}",
        data_key=f"{matter.kind} {matter.subject}",
        data_testid="matter-open",
    )
    return tag(
        "li",
        icon(matter.symbol),
        tag("span", tag("strong", matter.title, cls="truncate"), tag("span", matter.words, cls="muted"), cls="grow"),
        tag("span", *buttons, opens, cls="matter-buttons"),
        cls="matter",
        data_kind=matter.kind,
        data_subject=matter.subject,
        data_testid="matter",
    )


def _button(matter: Matter, action: Action) -> Html:
    words = WORDS[action]
    return tag(
        "button",
        words,
        cls="text-button text-button-primary" if action in FIRST else "text-button",
        data_do=action,
        data_key=f"{action} {matter.subject}",
        data_testid=f"matter-{action}",
        aria_label=f"{words}: {matter.title}",
    )


def _request(row: RunRow) -> str:
    return head(row.request, 100) or "(no text)"


def counted(number: int) -> Html:
    """How much waits, in words."""
    if not number:
        return joined(icon("task_alt"), " Nothing waits for you.")
    return joined(f"{plural(number, 'thing')} {'waits' if number == 1 else 'wait'} for you.")
