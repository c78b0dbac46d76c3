"""What may be spent: by the day and the month, and by agent; what is left, and when it is reached at this pace."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from app.domain.agents import Agent
from app.domain.usage.days import local_midnight, local_month
from app.domain.usage.pace import Pace
from app.ui.charts.tables import plain_table
from app.ui.conversation.figures import NEAR
from app.ui.elements.addresses import BUDGETS, agent_address, editor_address, session_address
from app.ui.elements.format import clock, dollars, percent, plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.workbench import Workbench

MOST_AGENTS = 12
LOOKED_AT = 50
"""Newest sessions among which an agent's dearest one is found."""
_PROJECTION = tag("small", "projection", cls="chip", title="A straight line through what was spent so far.")


def paces(workbench: Workbench, now: datetime) -> tuple[Pace, Pace]:
    """Of today and of this month."""
    ledger, today, month = workbench.runs.ledger, local_midnight(now), local_month(now)
    tomorrow, next_month = local_midnight(today + timedelta(hours=36)), local_month(month + timedelta(days=32))
    return (
        Pace(ledger.day_cost(), ledger.day_ceiling(), today, tomorrow, now),
        Pace(ledger.month_cost(), ledger.month_ceiling(), month, next_month, now),
    )


def ceilings_view(day: Pace, month: Pace) -> Html:
    """Both, each with its way to the setting."""
    return tag("div", _ceiling("day", "Today", day), _ceiling("month", "This month", month), cls="ceilings")


def _ceiling(name: str, title: str, pace: Pace) -> Html:
    near = pace.allowed > 0 and pace.share >= NEAR
    of = tag("small", f" of {dollars(pace.allowed)}, {percent(pace.share)}" if pace.allowed else " without a ceiling")
    width = f"width: {min(pace.share, 1) * 100:.0f}%"
    meter = tag("div", tag("span", style=width), cls="ceiling-meter", aria_hidden="true") if pace.allowed else ""
    label = f"Change the ceiling of a {name}"
    change = tag("a", "Change", href=BUDGETS, aria_label=label, data_testid=f"change-{name}", data_key=name)
    words = joined(tag("dt", f"{title}, all agents"), tag("dd", dollars(pace.spent), of))
    look = "ceiling is-warn" if near else "ceiling"
    told = tag("p", *_pace_words(pace), " ", change, cls="muted")
    return tag("div", tag("dl", words), meter, told, cls=look, data_testid=f"ceiling-{name}")


def _pace_words(pace: Pace) -> Iterator[str]:
    if pace.allowed and not pace.left:
        yield "It is reached: calls that cost money are held back. "
        return
    if pace.allowed:
        yield f"{dollars(pace.left)} left. "
    if (moment := pace.reached_at) is not None:
        yield f"At this pace it is reached {_when(moment, pace.now)}. "
        yield _PROJECTION
    elif pace.by_the_end is None:
        yield "It is too early to tell a pace."
    elif pace.spent:
        yield f"At this pace it comes to about {dollars(pace.by_the_end)}. "
        yield _PROJECTION


def _when(moment: datetime, now: datetime) -> str:
    local, today = moment.astimezone(), now.astimezone().date()
    return f"about {clock(moment)}" if local.date() == today else f"about {local:%a} {local.day} {local:%b}"


def agents_view(agents: Sequence[Agent], sessions: Mapping[str, tuple[str, float]], spent: float) -> Html:
    """`sessions`: by agent, its dearest session of late and what that cost; `spent`: by all agents today."""
    if not agents:
        return Html("")
    heads = ("Agent", "A run", "A session", "A day of all agents", "")
    rows = (_agent_row(agent, sessions.get(agent.id), spent) for agent in agents[:MOST_AGENTS])
    left = len(agents) - MOST_AGENTS
    more = tag("p", f"And {plural(left, 'agent')} more, each with its ceilings in its editor.", cls="muted")
    return joined(plain_table("Ceilings of agents", heads, rows, testid="agent-ceilings"), more if left > 0 else "")


def _agent_row(agent: Agent, session: tuple[str, float] | None, spent: float) -> Iterator[Html]:
    limits = agent.variant(agent.active).behaviour.limits
    name = visible(agent.name)
    yield tag("a", name, href=agent_address(agent.slug), data_key=f"agent-{agent.id}")
    yield joined(dollars(limits.run_cost))
    if limits.session_cost and session is not None:
        place = tag("a", "dearest", href=session_address(session[0]), data_key=f"session-{agent.id}")
        yield joined(dollars(limits.session_cost), "; ", place, " ", _left(limits.session_cost, session[1]))
    else:
        yield joined(dollars(limits.session_cost) if limits.session_cost else "no ceiling")
    yield joined(dollars(limits.day_cost), "; ", _left(limits.day_cost, spent))
    if agent.kind == "workflow":  # the form of its limits is the API's
        yield Html("")
        return
    change = {"href": f"{editor_address(agent)}?tab=limits", "aria_label": f"Change the ceilings of {name}"}
    yield tag("a", "Change", data_key=f"change-{agent.id}", **change)


def _left(allowed: float, spent: float) -> Html:
    words = f"{dollars(max(0.0, allowed - spent))} left"
    return tag("span", words, cls="mark-warn" if spent >= NEAR * allowed else None)


def dearest_sessions(workbench: Workbench, agents: Sequence[Agent]) -> dict[str, tuple[str, float]]:
    """By agent with a ceiling for sessions, out of the newest ones: the id of the dearest one and what it cost."""
    wanted = {agent.id for agent in agents if agent.variant(agent.active).behaviour.limits.session_cost}
    found: dict[str, tuple[str, float]] = {}
    for session in workbench.sessions.recent(limit=LOOKED_AT) if wanted else ():
        cost = workbench.runs.ledger.session_cost(session.id) if session.agent_id in wanted else -1.0
        if cost > found.get(session.agent_id, ("", -1.0))[1]:
            found[session.agent_id] = (session.id, cost)
    return found
