"""Cases as the rows of a table."""

from collections.abc import Callable, Sequence

from app.domain.evals.cases import Case, ExpectedCall
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.evals.case_form import call_words, written_answer

COLUMNS = ("Input", "Expected answer", "Expected calls", "Tags", "From")
UNSAID = tag("span", "nobody said", cls="faint is-unsaid")
MOST_CALLS = 3
"""Chips of one row; the others are counted."""


def cases_table(cases: Sequence[Case], has_run: Callable[[str], bool]) -> Html:
    """A row for each; `has_run` says whether the run it was made from is still there."""
    names = (tag("th", name, scope="col") for name in COLUMNS)
    actions = tag("th", tag("span", "Actions", cls="visually-hidden"), scope="col")
    rows = (_row(case, has_run) for case in cases)
    return tag("table", tag("thead", tag("tr", *names, actions)), tag("tbody", *rows), cls="cases-table")


def told_in(case: Case) -> str:
    """All that a search looks through, in small letters."""
    calls = (call.name for call in case.expected_calls or ())
    return "\n".join(
        (case.input, *case.turns, written_answer(case.reference), case.note, *case.tags, *calls)
    ).casefold()


def _row(case: Case, has_run: Callable[[str], bool]) -> Html:
    opens = tag("button", head(case.headline, 200), cls="case-open", data_action="edit", data_testid="case-edit",
                data_key=case.id)  # fmt: skip
    name = head(case.headline, 40)
    return tag(
        "tr",
        tag("td", opens, _facts(case), cls="case-input"),
        tag(
            "td",
            head(written_answer(case.reference), 200) or UNSAID,
            cls="case-reference",
        ),
        tag("td", _calls(case.expected_calls), cls="case-calls"),
        tag("td", _tags(case), cls="case-tags"),
        tag("td", _origin(case, has_run), cls="case-origin"),
        tag(
            "td",
            icon_action("delete", "delete_outline", f"Delete the case {name}", title="Delete", of=case.id),
            cls="case-act",
        ),
        data_case=case.id,
        data_testid="case-row",
    )


def _facts(case: Case) -> Html:
    messages = case.user.most_turns if case.user else 1 + len(case.turns)
    files = len(case.attachments) + len(case.files)
    several = f"up to {messages} messages, simulated" if case.user else plural(messages, "message")
    found = (
        (messages > 1, several),
        (files, plural(files, "file")),
        (case.record, "tools recorded"),
        (case.note, head(case.note, 80)),
    )
    words = " · ".join(said for there, said in found if there)
    return tag("small", words) if words else Html("")


def _calls(calls: tuple[ExpectedCall, ...] | None) -> Html:
    if calls is None:
        return UNSAID
    if not calls:
        return tag("span", "no call", cls="chip")
    shown = (tag("code", head(call.name, 40), cls="chip", title=head(call_words(call))) for call in calls[:MOST_CALLS])
    more = len(calls) - MOST_CALLS
    return joined(*shown, tag("span", f"and {more} more", cls="faint") if more > 0 else "")


def _tags(case: Case) -> Html:
    must = tag("span", icon("flag"), "must pass", cls="chip is-warn", data_testid="must-pass") if case.must_pass else ""
    return joined(must, *(tag("span", one, cls="chip") for one in case.tags))


def _origin(case: Case, has_run: Callable[[str], bool]) -> Html:
    if not case.run_id:
        return _none("by hand")
    if not has_run(case.run_id):
        return tag("span", "its run is gone", cls="faint", title="The case holds all it needs.")
    step = f", step {case.step}" if case.step else ""
    return tag("a", f"a run{step}", href=run_address(case.run_id), data_testid="case-run")


def _none(words: str) -> Html:
    return tag("span", words, cls="faint")
