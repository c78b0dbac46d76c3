"""What names a column: its letter, its agent and variant, its model, and what can be done with it."""

from dataclasses import dataclass

from app.domain.agents import Agent, model_of, model_words
from app.domain.comparisons import LETTERS
from app.domain.sessions import Session
from app.domain.trace import RunStatus
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import session_pill
from app.ui.elements.variant_select import standing


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the head of a column shows, as of now."""

    place: int
    agent: Agent
    session: Session
    run: RunStatus | None
    votes: int

    @property
    def letter(self) -> str:
        return LETTERS[self.place]

    @property
    def model(self) -> str:
        return model_words(self.agent.variant(self.session.variant).behaviour, self.session.model)

    @property
    def is_active(self) -> bool:
        """True when the agent answers like this column already."""
        return self.session.variant == self.agent.active and not self.has_own_model

    @property
    def has_own_model(self) -> bool:
        """True when the column's model is not the variant's."""
        own = self.session.model
        return own is not None and own != model_of(self.agent.variant(self.session.variant).behaviour)


def column_head(facts: ColumnFacts) -> Html:
    who = tag(
        "div",
        tag("span", facts.letter, cls="compare-letter", aria_hidden="true"),
        tag("h2", tag("span", f"{facts.letter}: ", cls="visually-hidden"), facts.agent.name, cls="truncate grow"),
        tag("span", session_pill(facts.run), data_testid="status-pill"),
        _promote(facts),
        _action(facts, "open", "open_in_new", f"Go on with {facts.letter} as a session of its own", "open-column"),
        cls="row-line",
    )
    votes = tag("span", icon("thumb_up"), str(facts.votes), cls="chip", title=plural(facts.votes, "vote"))
    what = tag(
        "div",
        tag("span", f"v{facts.session.variant}", cls="chip", title="Variant"),
        _status(facts),
        tag("span", facts.model, cls="chip truncate", title=f"Model: {facts.model}", data_testid="model-chip"),
        tag("span", cls="grow"),
        tag("span", votes, data_testid="column-votes") if facts.votes else "",
        cls="row-line",
    )
    return joined(who, what)


def vote_button(place: int, number: int, *, chosen: bool) -> Html:
    """Votes for a column's answer in a round, or takes the vote back."""
    label = f"Take the vote for {LETTERS[place]} back" if chosen else f"Vote for {LETTERS[place]}"
    return tag(
        "button",
        icon("thumb_up"),
        "Voted best" if chosen else f"{LETTERS[place]} is better",
        cls="compare-vote",
        data_compare="vote",
        data_column=str(place),
        data_round=str(number),
        data_testid="vote-button",
        aria_pressed="true" if chosen else "false",
        aria_label=label,
        title=label,
    )


def tie_button(number: int, *, chosen: bool) -> Html:
    """Says that no answer of a round is better than the others, or takes that back."""
    label = "Take the tie back" if chosen else "Vote for a tie: no answer is better"
    return tag(
        "button",
        icon("balance"),
        "Voted a tie" if chosen else "A tie",
        cls="compare-vote",
        data_compare="tie",
        data_column="0",
        data_round=str(number),
        data_testid="tie-button",
        aria_pressed="true" if chosen else "false",
        aria_label=label,
        title=label,
    )


def _status(facts: ColumnFacts) -> Html:
    number = facts.session.variant
    look = "chip compare-active" if number == facts.agent.active else "chip"
    return tag("span", standing(facts.agent, number), cls=look)


def _promote(facts: ColumnFacts) -> Html:
    if facts.is_active:
        return Html("")
    label = f"Make v{facts.session.variant} the active variant"
    if facts.has_own_model:
        label = f"Save v{facts.session.variant} with {facts.model} as a variant, and make it active"
    return _action(facts, "promote", "verified", label, "promote-button", words="Promote")


def _action(facts: ColumnFacts, what: str, symbol: str, label: str, testid: str, *, words: str = "") -> Html:
    return tag(
        "button",
        icon(symbol),
        tag("span", words, cls="compare-label") if words else "",
        cls="compare-action" if words else "icon-action",
        data_compare=what,
        data_column=str(facts.place),
        data_testid=testid,
        aria_label=label,
        title=label,
    )
