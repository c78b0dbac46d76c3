"""What happened between the steps of a run, on one line: text that was left out, a limit that was reached."""

from dataclasses import dataclass

from app.domain.events import (
    ChildStarted,
    ContextTrimmed,
    Entry,
    Event,
    Forked,
    LimitReached,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    RunResumed,
)
from app.domain.failure_words import failure_words
from app.domain.trace import Edited
from app.engine.run.limits import sentence
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.failures import mark
from app.ui.elements.addresses import run_address
from app.ui.elements.format import count, head, plural
from app.ui.elements.markup import Html, joined, tag


@dataclass(frozen=True, slots=True)
class TraceMark:
    seq: int
    """The entry it comes from."""
    icon: str
    words: str
    short: str
    """For a line that says more than this."""

    edited: Edited | None = None
    """The old value of what it tells of."""
    run: str = ""
    """The id of the run that it tells of."""

    @property
    def html(self) -> Html:
        line = mark(self.icon, self.words, warn=True)
        if self.run:
            line = joined(line, " ", tag("a", "Open it", href=run_address(self.run)))
        if self.edited is not None:
            line = edited_mark(self.edited, about="System prompt: ")
        return tag("div", line, cls="trace-mark", data_testid="trace-mark", data_seq=str(self.seq))


def mark_of(entry: Entry) -> TraceMark | None:
    """The mark that the entry leaves, if it leaves one."""
    told = _told(entry.event)
    run = entry.event.child_run_id if isinstance(entry.event, ChildStarted) else ""
    return TraceMark(entry.seq, *told, run=run) if told else None


def _told(event: Event) -> tuple[str, str, str] | None:
    """Its icon, its words, and the same for a line that says more than this."""
    told = None
    match event:
        case ContextTrimmed() as trimmed:
            told = "content_cut", trimmed_words(trimmed), "trimmed"
        case RunResumed(notes=notes):
            told = "play_circle", " ".join(("Went on after the app was closed.", *notes)), "resumed"
        case LimitReached() as limit:
            told = "speed", sentence(limit), "limit reached"
        case ModelFailed() as failed:
            told = "error", failed_words(failed), "model call failed"
        case PauseRequested() as request:
            told = "pan_tool", asked_words(request), "asked"
        case PauseResolved() as resolved:
            told = "how_to_reg", decided_words(resolved), "decided"
        case ChildStarted(of_run=of_run) if of_run:
            told = "account_tree", "Answered as in the original run, which started another one.", "started no run"
        case ChildStarted():
            told = "account_tree", "Started another run.", "started a run"
        case Forked(edited=edited):
            but = ", but for what is marked as edited" if edited else ""
            told = "fork_right", f"Everything above was taken over from the original run{but}.", "forked"
        case _:
            pass
    return told


def failed_words(failed: ModelFailed) -> str:
    """`Attempt 1 failed: Too many requests. 429 slow down. It was to be tried again.`"""
    again = " It was to be tried again." if failed.retry_at else ""
    said = head(failed.text, 300)
    return f"Attempt {failed.attempt} failed: {failure_words(failed.failure).title}. {said}{again}"


def asked_words(request: PauseRequested) -> str:
    """`Waited for a person: approval of delete_file.`"""
    about = f" for {request.name}" if request.reason == "oauth" else f" of {request.name}" if request.name else ""
    question = f" {head(request.question, 300)}" if request.question else ""
    reason = "sign-in" if request.reason == "oauth" else request.reason
    return f"Waited for a person: {reason}{about}.{question}"


def decided_words(resolved: PauseResolved) -> str:
    """`A person decided: approve. Looks fine.`"""
    note = f" {head(resolved.note, 300)}" if resolved.note else ""
    return f"A person decided: {resolved.decision}.{note}"


def trimmed_words(trimmed: ContextTrimmed) -> str:
    """`Too long to send: 4 earlier messages and 2 tool results left out, about 900 instead of 1,200 tokens.`"""
    dropped = sum(one.how == "dropped" for one in trimmed.left_out)
    stubs = len(trimmed.left_out) - dropped
    left_out = [plural(dropped, "earlier message")] * (dropped > 0) + [plural(stubs, "tool result")] * (stubs > 0)
    tokens = f"about {count(trimmed.tokens_after)} instead of {count(trimmed.tokens_before)} tokens"
    return f"Too long to send: {' and '.join(left_out)} left out, {tokens}."
