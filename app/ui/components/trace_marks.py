"""What happened between the steps of a run, on one line: text that was left out, a limit that was reached."""

from dataclasses import dataclass

from app.domain.events import ContextTrimmed, Entry, LimitReached, RunResumed
from app.engine.limits import sentence
from app.ui.components.failures import mark
from app.ui.components.format import count, plural
from app.ui.markup import Html, tag


@dataclass(frozen=True, slots=True)
class TraceMark:
    seq: int
    """The entry it comes from."""
    icon: str
    words: str
    short: str
    """For a line that says more than this."""

    @property
    def html(self) -> Html:
        return tag("div", mark(self.icon, self.words, warn=True), cls="trace-mark", data_testid="trace-mark")


def mark_of(entry: Entry) -> TraceMark | None:
    """The mark that the entry leaves, if it leaves one."""
    match entry.event:
        case ContextTrimmed() as trimmed:
            return TraceMark(entry.seq, "content_cut", trimmed_words(trimmed), "trimmed")
        case RunResumed(notes=notes):
            words = " ".join(("Went on after the app was closed.", *notes))
            return TraceMark(entry.seq, "play_circle", words, "resumed")
        case LimitReached() as limit:
            return TraceMark(entry.seq, "speed", sentence(limit), "limit reached")
        case _:
            return None


def trimmed_words(trimmed: ContextTrimmed) -> str:
    """`Too long to send: 4 earlier messages and 2 tool results left out, about 900 instead of 1,200 tokens.`"""
    dropped = sum(one.how == "dropped" for one in trimmed.left_out)
    stubs = len(trimmed.left_out) - dropped
    left_out = [plural(dropped, "earlier message")] * (dropped > 0) + [plural(stubs, "tool result")] * (stubs > 0)
    tokens = f"about {count(trimmed.tokens_after)} instead of {count(trimmed.tokens_before)} tokens"
    return f"Too long to send: {' and '.join(left_out)} left out, {tokens}."
