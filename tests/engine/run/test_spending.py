"""What counts against the limits of a run that has come some way already."""

from app.domain.events import Forked
from app.domain.trace import totals
from app.engine.run.spending import Spending
from tests.traces import called, returned, said, the_sum, trace_of


def test_a_run_that_goes_on_has_used_up_what_it_did_before():
    spending = Spending()
    spending.follow(the_sum())
    sums = totals(the_sum())
    assert (spending.steps, spending.tokens, spending.cost) == (3, sums.usage.total_tokens, sums.cost)
    assert spending.largest_result == len("5 + 10 = 15")


def test_a_fork_has_used_up_nothing_of_its_copied_beginning():
    forked = Forked(run_id="r0", seq=0, prefix_digest="0" * 64)
    copied = [entry.event for entry in the_sum()[:-1]]
    entries = trace_of(*copied, forked, called("m9"), said("so"), returned("m9", tokens=7))
    spending = Spending()
    spending.follow(entries[:-3])
    assert (spending.steps, spending.tokens, spending.in_a_row, spending.largest_result) == (0, 0, 0, 0)
    spending.follow(entries)
    assert (spending.steps, spending.tokens) == (1, 21)
