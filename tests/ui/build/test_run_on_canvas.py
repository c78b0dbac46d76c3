"""What a run of a workflow brings to its editor: values to insert, a form of what it takes."""

from app.domain.trace import nodes
from app.domain.workflows.document import InputNode, Workflow
from app.ui.build.offers import with_last
from app.ui.build.sheet import Offer
from app.ui.schema_form.run_form import as_message, takes_more
from tests.traces import SUMMING, a_workflow_run, node_ended, node_started, started, trace_of


def test_names_are_offered_with_what_they_were_last():
    offers = with_last(["each", "total", "input.text", "gone"], nodes(a_workflow_run()))
    assert offers == [Offer("each", "[2, 4]"), Offer("total", "6"), Offer("input.text", "1 and 2"), Offer("gone")]


def test_fields_that_nobody_knew_before_a_run_are_offered_after_it():
    found = {"items": [1], "not a name": 2}
    runs = nodes(trace_of(started(workflow=SUMMING), node_started("total"), node_ended("total", found)))
    assert [offer.name for offer in with_last(["total"], runs)] == ["total", "total.items"]


def test_a_form_is_shown_where_a_message_does_not_say_it_all():
    more = {"type": "object", "properties": {"text": {}, "count": {}}}
    assert takes_more(Workflow(nodes=(InputNode(id="input", takes=more),))) == more
    assert takes_more(SUMMING) is None and takes_more(Workflow()) is None


def test_what_a_form_says_becomes_a_message_and_values_beside_it():
    assert as_message({"text": "hi", "count": 3, "who": "me"}) == ("hi", {"count": "3", "who": "me"})
    assert as_message({"count": 3}) == ('{"count": 3}', {})
