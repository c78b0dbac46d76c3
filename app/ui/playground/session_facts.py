"""What the bars around a conversation show, gathered from where it is known."""

from app.domain.sessions import Session
from app.ui.conversation.conversation import Conversation
from app.ui.conversation.figures import Figures, ceiling, token_ceiling
from app.ui.conversation.session_bars import SessionFacts
from app.workbench import Workbench


def session_facts(
    workbench: Workbench, session: Session, conversation: Conversation, *, day_cost: float
) -> SessionFacts:
    """As of now; `day_cost` is what today's runs of all agents have cost, in US dollars."""
    agent, turns = workbench.agents.get(session.agent_id), conversation.turns
    limits, ledger = agent.variant(session.variant).behaviour.limits, workbench.runs.ledger
    rows = (workbench.rows.get(run_id) for run_id in conversation.hidden)
    earlier = [Figures.of_row(row) for row in rows if row is not None]
    return SessionFacts(
        agent=agent.name,
        icon=agent.icon,
        status=conversation.status,
        turns=[*earlier, *(turn.figures for turn in turns)],
        ceiling=ceiling(
            limits,
            run_cost=turns[-1].figures.cost if turns else 0.0,
            session_cost=ledger.session_cost(session.id) if limits.session_cost else 0.0,
            day_cost=day_cost,
            all_day=ledger.day_ceiling(),
        ),
        token_ceiling=token_ceiling(limits, turns[-1].figures.tokens if turns else 0),
    )
