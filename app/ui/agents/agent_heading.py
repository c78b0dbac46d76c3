"""Who an agent is and what it did, at the top of its page."""

from app.domain.agents import Agent
from app.domain.trace import Week
from app.domain.values import now
from app.ui.elements.format import ago, dollars, plural
from app.ui.elements.markup import Html, icon, joined, tag


def agent_heading(agent: Agent, week: Week) -> Html:
    """Icon, name, slug, description, and figures on one line."""
    names = tag(
        "div",
        tag("h1", agent.name, cls="page-title", data_testid="agent-name"),
        tag("p", agent.description or "No description.", cls="page-lead"),
        tag("p", *_facts(agent, week), cls="faint agent-facts"),
        cls="grow",
    )
    return joined(tag("span", icon(agent.icon), cls="agent-icon"), names)


def _facts(agent: Agent, week: Week) -> list[Html]:
    facts = [tag("code", agent.slug, cls="mono developer-only"), tag("span", f"v{agent.active} is active")]
    if agent.is_public:
        facts.insert(0, public_badge())
    if week.last_run_at is None:
        facts.append(tag("span", "never ran"))
    else:
        facts.append(tag("span", f"last run {ago(week.last_run_at, now())}"))
        facts.append(tag("span", week_words(week)))
    return facts


def week_words(week: Week) -> str:
    """`3 runs, $0.50 this week`."""
    return f"{plural(week.runs, 'run')}, {dollars(week.cost, unpriced=week.unpriced)} this week"


def public_badge() -> Html:
    """That anybody may run the agent."""
    meaning = "Whoever reaches this app may run it without a key. Integrations changes that."
    return tag("span", icon("public"), "Public", cls="chip is-warn", title=meaning, data_testid="public-badge")
