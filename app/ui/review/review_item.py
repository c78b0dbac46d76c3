"""One answer to rate: what was asked, what was answered, the calls collapsed; the rest only once it is rated."""

from collections.abc import Mapping, Sequence

from nicegui import ui

from app.domain.agents import NODES_MODELS
from app.domain.evals.evidence import final_answer
from app.domain.events import MessageAdded
from app.domain.trace import CallView, RunRow, call_views, error_of
from app.engine.experiments.review_rounds import ReviewItem
from app.engine.experiments.reviewing import ReviewAnswer
from app.ui.conversation.tool_body import pretty
from app.ui.elements.addresses import run_address
from app.ui.elements.format import dollars, duration, head, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import status_pill
from app.ui.elements.visible import visible
from app.ui.markdown.markdown import Markdown

LONGEST = 100_000
"""Characters of a message that are shown; of more the run's own page shows all."""
MOST_CALLS = 50
LONGEST_RESULT = 1_000
SAID = {True: "good", False: "not good"}


def show_item(answer: ReviewAnswer) -> None:
    """What there is to rate, nothing of which tells whose answer it is."""
    messages = [entry.event.message for entry in answer.entries if isinstance(entry.event, MessageAdded)]
    asked = next((message.text for message in reversed(messages) if message.role == "user"), answer.row.request)
    ui.html("Asked", sanitize=False, tag="h2").classes("review-label")
    Markdown(asked[:LONGEST])
    calls = list(call_views(answer.entries).values())
    if calls:
        ui.html(calls_view(calls), sanitize=False).classes("fill")
    ui.html("Answered", sanitize=False, tag="h2").classes("review-label")
    if text := final_answer(answer.entries):
        Markdown(text[:LONGEST])
    else:
        ui.html(no_answer(answer), sanitize=False)


def no_answer(answer: ReviewAnswer) -> Html:
    error = error_of(answer.entries)
    return tag("p", visible(head(error.text, 400)) if error else "The run gave no answer.", cls="faint")


def calls_view(calls: Sequence[CallView]) -> Html:
    """The calls of tools, closed; their names tell what was done."""
    names = ", ".join(dict.fromkeys(call.name for call in calls))
    rows = (
        tag(
            "li",
            tag("code", call.name),
            tag("pre", visible(head(pretty(call.arguments), LONGEST_RESULT))),
            tag("pre", visible(head(call.result.text if call.result else "no result", LONGEST_RESULT))),
        )
        for call in calls[:MOST_CALLS]
    )
    summary = tag("summary", icon("build"), f" {plural(len(calls), 'call')}: ", visible(head(names, 120)))
    return tag("details", summary, tag("ol", *rows), cls="review-calls", data_testid="review-calls")


def revealed(item: ReviewItem, answer: ReviewAnswer, *, good: bool, before: bool | None) -> Html:
    """Whose answer it was, what it cost, and what judges said, beside the thumb that was given.

    `before`: what the same person had said of it, where it came a second time.
    """
    row = answer.row
    judges = [_judge(name, passed=passed, good=good) for name, passed in answer.judged]
    own = tag("p", f"You rated this before: {SAID[before]}. " + ("The same." if before == good else "Not the same."),
              data_testid="review-again") if before is not None else ""  # fmt: skip
    ends = [score for score in item.cell.scores if score.name not in dict(answer.judged)] if item.cell else []
    scored = (
        tag("p", tag("strong", visible(one.name)), f": {_passed(one.passed)}. ", visible(head(one.reason, 200)))
        for one in ends
    )
    return joined(tag("p", _facts(row)), own, *judges, *scored)


def _facts(row: RunRow) -> Html:
    who = f"{row.agent.name}, {row.agent.variant_words} · {row.model or NODES_MODELS}"
    facts = f"{who} · {dollars(row.cost, unpriced=row.unpriced)}"
    link = tag("a", "See the run", href=run_address(row.run_id))
    return joined(status_pill(row.status), " ", visible(facts), f" · {duration(row.duration_ms)} · ", link)


def _judge(name: str, *, passed: bool, good: bool) -> Html:
    differs = "" if passed == good else tag("span", "differs from you", cls="chip is-warn")
    return tag("p", tag("strong", visible(name)), f": {_passed(passed)} ", differs, data_testid="review-judge")


def _passed(passed: bool | None) -> str:
    return "did not say" if passed is None else "passed" if passed else "failed"


def criteria_view(criteria: Sequence[str], answers: Mapping[str, bool]) -> Html:
    """A row of yes and no for each criterion; a click on what is pressed takes it back."""
    return joined(*(_criterion(place, one, answers.get(one)) for place, one in enumerate(criteria)))


def _criterion(place: int, criterion: str, said: bool | None) -> Html:
    buttons = (
        tag("button", words, data_criterion=f"{place}.{words.lower()}", data_key=f"{place}.{words.lower()}",
            aria_pressed="true" if said is value else "false", aria_label=f"{words}: {criterion}",
            data_testid="review-criterion")
        for words, value in (("Yes", True), ("No", False))
    )  # fmt: skip
    row = tag("span", *buttons, cls="segmented", role="group", aria_label=visible(criterion))
    return tag("div", row, tag("span", visible(criterion)), cls="review-criterion")
