"""What the comparison of a fork with its origin says of each step."""

from app.domain.errors import ErrorInfo
from app.domain.events import Event, Forked, RunFinished
from app.domain.trace.fork_view import ForkView, fork_view
from app.ui.run.fork_compare import fork_table
from tests.traces import ADD, asked, called, ran, returned, said, started, the_sum, trace_of

BEGINNING = (started(), asked("x"), called(), said("", ADD), returned(), *ran(ADD, "No.", status="error"))


def compared(*own: Event, edited: tuple[int, ...] = ()) -> ForkView:
    """A fork that goes on with these, beside a run that failed."""
    error = ErrorInfo(failure="provider_error", text="500")
    origin = trace_of(*BEGINNING, RunFinished(status="failed", error=error))
    forked = Forked(run_id="r1", seq=6, prefix_digest=origin[6].digest, edited=edited)
    view = fork_view(trace_of(*BEGINNING[:6], ran(ADD, "15")[1] if edited else BEGINNING[6], forked, *own), origin)
    assert view is not None
    return view


def test_an_edited_step_stands_beside_what_it_was_and_the_error_of_the_original_beside_what_came_instead():
    table = fork_table(compared(called(), said("It is **15**."), returned(), edited=(6,)))
    assert table.index("Step 1") < table.index("Edited") < table.index("No.") < table.index("Step 2")
    assert "The provider had a problem: 500" in table
    assert "It is 15." in table


def test_steps_that_were_taken_over_are_only_counted():
    table = fork_table(compared(called(), said("so"), returned()))
    assert "1 step reused, 1 new" in table
    assert "Step 1" not in table and "Step 2" in table


def test_the_same_calls_with_other_words_are_no_difference_in_what_was_done():
    entries = the_sum()
    own = (event.event for event in entries[7:-1])
    forked = Forked(run_id="r1", seq=6, prefix_digest=entries[6].digest)
    view = fork_view(trace_of(*(entry.event for entry in entries[:7]), forked, *own), entries)
    assert view is not None
    assert "The same" in fork_table(view) and "other words" not in fork_table(view)
