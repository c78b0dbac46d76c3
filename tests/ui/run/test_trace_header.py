"""The head of a run's page says who began it."""

import pytest

from app.domain.provenance import Purpose, Trigger
from app.domain.trace import run_row
from app.domain.values import now
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_header import run_heading, trigger_words
from tests.traces import asked, finished, started, trace_of


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Trigger(kind="api_key"), "Started over the API"),
        (Trigger(kind="api_key", program="curl/8.5.0"), "Started over the API, by curl/8.5.0"),
        (Trigger(kind="api_key", name="nightly", program="n8n"), "Started with the API key nightly, by n8n"),
        (Trigger(kind="page"), "Started on a page"),
    ],
)
def test_a_run_that_was_called_names_the_key_and_the_program(trigger: Trigger, words: str):
    assert trigger_words(trigger) == words


@pytest.mark.parametrize(("purpose", "leads"), [("chat", True), ("experiment", True), ("judge", False)])
def test_only_where_an_agent_was_asked_there_is_a_session_to_open(purpose: Purpose, leads: bool):
    entries = trace_of(started(purpose=purpose), asked("Hi"), finished())
    heading = run_heading(run_row(entries, alive=False), now(), RunSoFar("r"))
    assert ("Open its session" in heading) is leads
