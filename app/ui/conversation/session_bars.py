"""The bars around a conversation: who answers, what it has used up, and what goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.trace import RunStatus
from app.ui.conversation.figures import Ceiling, Figures, middle
from app.ui.elements.format import UNPRICED, count, dollars, duration, percent, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import session_pill

IN_ALL = "With the tasks that it started and its other branches"


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the bars show, as of now."""

    agent: str
    icon: str
    status: RunStatus | None
    turns: Sequence[Figures]
    ceiling: Ceiling | None
    token_ceiling: Ceiling | None = None
    in_all: float = 0.0
    """US dollars of the whole session: of all its branches, and of what their runs started."""

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)

    @property
    def cost(self) -> str:
        unpriced = any(turn.unpriced for turn in self.turns)
        return dollars(sum(turn.cost for turn in self.turns), unpriced=unpriced)


def session_heading(facts: SessionFacts) -> Html:
    """Who answers, and whether it does."""
    return joined(
        tag("span", icon(facts.icon), cls="agent-icon"),
        tag("h1", facts.agent),
        tag("span", session_pill(facts.status), data_testid="status-pill"),
    )


def session_chips(facts: SessionFacts) -> Html:
    """What the session has used up."""
    return joined(
        _chip("toll", tokens(facts.tokens), facts.token_ceiling, testid="token-chip"),
        _chip("payments", facts.cost, facts.ceiling, testid="cost-chip"),
    )


def _chip(symbol: str, words: str, limit: Ceiling | None, *, testid: str) -> Html:
    """What was used, and from 80 % of its limit on also how much that is."""
    if limit is None:
        return tag("span", icon(symbol), words, cls="chip", data_testid=testid)
    near = joined(" ", tag("small", percent(limit.share))) if limit.near else ""
    look = "chip is-warn" if limit.near else "chip"
    return tag("span", icon(symbol), words, near, cls=look, title=limit.words, data_testid=testid)


def kpi_strip(facts: SessionFacts) -> Html:
    latencies = [ms for turn in facts.turns for ms in turn.latencies]
    first_tokens = [ms for turn in facts.turns for ms in turn.first_tokens]
    words = {"running": "Running", "paused": "Paused", "failed": "Failed"}.get(facts.status or "", "Ready")
    latency = joined(duration(middle(latencies)), tag("small", f" first token {duration(middle(first_tokens))}"))
    return joined(
        _tokens_kpi(facts),
        _cost_kpi(facts),
        _kpi("Usual model call", latency),
        _kpi("Status", words),
    )


def status_line(*, running: bool, waits: bool = False, version: str, unsaved: str | None, spans_to: str = "") -> Html:
    """What the bar at the bottom says.

    `waits`: what is running needs a person to go on. `unsaved` is why the newest part of the run is not on disk yet;
    `spans_to` where spans of runs are sent on to, empty for nowhere.
    """
    parts = [tag("span", _state(running=running, waits=waits), data_testid="stream-state")]
    if unsaved:
        parts.append(tag("span", icon("warning"), f"Not saved yet: {unsaved}", cls="mark-warn", role="alert"))
    parts.append(tag("span", cls="grow"))
    if spans_to:
        parts.append(tag("span", icon("outbound"), f"Spans go to {spans_to}", data_testid="spans-to"))
    live = tag("span", tag("span", cls="live-dot", aria_hidden="true"), "Live", cls="is-live")
    lost = tag("span", icon("cloud_off"), "Connection lost", cls="is-lost")
    parts.append(tag("span", live, lost, cls="live-state", data_testid="live-state"))
    parts.append(tag("span", f"v{version}"))
    return joined(*parts)


def _state(*, running: bool, waits: bool) -> Html:
    if waits:
        return joined(icon("pan_tool"), "Waiting for you")
    return joined(tag("span", cls="spinner", aria_hidden="true"), "Streaming") if running else Html("Idle")


def sparkline(values: Sequence[float]) -> Html:
    """The values as a small line, the newest at the right; nothing for fewer than two."""
    if len(values) < 2:
        return Html("")
    top = max(values) or 1
    step = 64 / (len(values) - 1)
    points = " ".join(f"{index * step:.1f},{22 - value / top * 20:.1f}" for index, value in enumerate(values))
    line = tag("polyline", points=points, fill="none", stroke="currentColor", stroke_width="1.5")
    return tag("svg", line, viewBox="0 0 64 24", role="img", aria_label="Tokens of the latest turns")


def _tokens_kpi(facts: SessionFacts) -> Html:
    going_on = facts.status in ("running", "paused")  # its tokens are still to come, and the line would fall for them
    line = sparkline([turn.tokens for turn in (facts.turns[:-1] if going_on else facts.turns)][-20:])
    limit = facts.token_ceiling
    if limit is None or not limit.near:
        return _kpi("Tokens", count(facts.tokens), line)
    note = tag("small", f" {percent(limit.share)}", title=limit.words)
    return _kpi("Tokens", joined(count(facts.tokens), note), line, warn=True)


def _cost_kpi(facts: SessionFacts) -> Html:
    beside = facts.in_all - sum(turn.cost for turn in facts.turns)
    whole = tag("small", f" {dollars(facts.in_all)} in all", title=IN_ALL) if beside > 1e-9 else ""
    if facts.ceiling is None:
        return _kpi("Cost", joined(facts.cost, whole))
    share = facts.ceiling.share
    meter = tag("div", tag("span", style=f"width: {min(share, 1) * 100:.0f}%"), cls="kpi-meter", aria_hidden="true")
    note = "" if facts.cost == UNPRICED else tag("small", f" {percent(share)}", title=facts.ceiling.words)
    words = tag("span", facts.ceiling.words, cls="visually-hidden")
    return _kpi("Cost", joined(facts.cost, note, whole, words), meter, warn=facts.ceiling.near)


def _kpi(title: str, value: str, extra: Html | None = None, *, warn: bool = False) -> Html:
    return tag("div", tag("dl", tag("dt", title), tag("dd", value)), extra or "", cls="kpi is-warn" if warn else "kpi")
