"""How far a search for a better prompt is, and what it proposes, as markup."""

from app.domain.evals.suggestions import Failure
from app.engine.experiments.searching import Suggestion
from app.ui.elements.addresses import experiment_address, run_address, tool_address
from app.ui.elements.format import dollars
from app.ui.elements.markup import Html, joined, tag

UNTRIED = (
    "A variant does not hold them, so they were not tried and are not saved with it. They count for every agent that "
    "has the tool. Take over what you like on the tool's page, then try the variant again."
)
TITLES = {"running": "Searching…", "done": "Done", "stopped": "Stopped", "failed": "This went wrong"}


def progress_view(one: Suggestion) -> Html:
    """What was done so far, what it cost, and what came of it."""
    ceiling = f" of {dollars(one.wish.ceiling_usd)}" if one.wish.ceiling_usd else ""
    look = "notice-bad" if one.status == "failed" else ""
    proof = ""
    if one.experiment_id:
        proof = tag("a", "Look at the experiment that proves it", href=experiment_address(one.experiment_id))
    return tag(
        "div",
        tag("strong", TITLES[one.status], data_testid="suggest-status", data_status=one.status),
        tag("ol", *(tag("li", words) for words in one.told), cls="suggest-steps"),
        tag("p", one.outcome, data_testid="suggest-outcome") if one.outcome else "",
        proof,
        tag("span", f"{dollars(one.cost)}{ceiling} spent", cls="faint"),
        cls=f"notice {look}".strip(),
    )


def proposal_view(one: Suggestion) -> Html:
    """Why it is proposed, failure by failure, and what it would say of tools."""
    if one.proposal is None:
        return Html("")
    reasons = {reason.failure: reason.reason for reason in one.proposal.by_failure}
    rows = (_failure(failure, reasons.get(number, "")) for number, failure in enumerate(one.failures, start=1))
    return joined(
        tag("h2", "What is proposed", cls="section-title"),
        tag("p", one.proposal.reason, cls="suggest-reason"),
        tag("ul", *rows, cls="suggest-failures"),
        _tools(one),
    )


def _failure(failure: Failure, reason: str) -> Html:
    name = failure.headline or failure.task[:80] or "An answer"
    shown = tag("a", name, href=run_address(failure.run_id)) if failure.run_id else tag("span", name)
    return tag("li", tag("strong", shown), tag("span", reason or failure.why[:300]))


def _tools(one: Suggestion) -> Html:
    """Better descriptions of tools, which no variant holds: they count for every agent."""
    tools = one.proposal.tools if one.proposal else ()
    if not tools:
        return Html("")
    rows = (
        tag("li", tag("strong", tag("a", words.name, href=tool_address(words.name))), tag("span", words.description))
        for words in tools
    )
    title = tag("h3", "Descriptions of tools, for you to try", cls="field-title")
    return joined(title, tag("p", UNTRIED, cls="muted"), tag("ul", *rows, cls="suggest-failures"))
