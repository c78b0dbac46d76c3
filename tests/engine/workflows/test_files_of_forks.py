"""Files that nodes write and others use, where only some of them are kept in a fork."""

import pytest

from app.domain.errors import WorkbenchError
from app.domain.messages import ToolCall
from app.domain.workflows.document import AgentNode, FixedValue, Template, ToolNode, Workflow
from app.engine.run.run import Run
from tests.domain.workflows.worlds import workflow
from tests.engine.scripted import reply
from tests.engine.workflows.test_node_forks import forked
from tests.engine.workflows.test_walking import hold, quick
from tests.engine.workflows.workshop import Workshop, answer, ended
from tests.waiting import until

PATH = FixedValue(value="/notes.txt")
JOT = ToolNode(id="jot", title="Draft", tool="jot", arguments={"path": PATH, "text": FixedValue(value="bees")})
RECALL = ToolNode(id="recall", title="Report", tool="recall", arguments={"path": FixedValue(value="notes.txt")})
ASK = AgentNode(id="recall", title="Report", agent="reader", message=Template(text="what was noted?"))
WIRES = ("input > jot", "input > slow", "slow > recall", "recall > after", "jot > output", "after > output")
FLOW = workflow(JOT, hold("slow"), RECALL, quick("after"), wires=WIRES, answer="{{recall}}")
OF_AN_AGENT = workflow(JOT, hold("slow"), ASK, quick("after"), wires=WIRES, answer="{{recall}}")


async def written_first(shop: Workshop, flow: Workflow) -> Run:
    """The run, in which the file was written before the other node began."""
    live = await shop.begun(flow)
    await until(lambda: any(entry.event.type == "file_changed" for entry in live.entries))
    shop.hands.gate.set()
    await ended(live)
    return live


@pytest.mark.parametrize("plan", [{"again": ("jot",)}, {"to": "recall"}, {"pins": {"jot": "wasps"}}])
async def test_a_kept_node_that_used_a_file_of_one_that_is_not_is_refused_by_name(shop, plan):
    live = await written_first(shop, FLOW)
    assert answer(live) == "bees"
    with pytest.raises(WorkbenchError, match=r"“Report” .* used /notes.txt, which “Draft” .* Connect “Draft”"):
        await forked(shop, live.run_id, **plan)


async def test_so_is_an_agent_that_used_it(shop):
    reads = ToolCall(call_id="r", name="recall", arguments={"path": "/notes.txt"})
    shop.models.plans["what was noted?"] = [reply("", reads), lambda found: reply(found[-1].text)]
    await shop.agent("Reader", "recall")
    live = await written_first(shop, OF_AN_AGENT)
    assert answer(live) == "bees"
    with pytest.raises(WorkbenchError, match=r"“Report” .* used /notes.txt"):
        await forked(shop, live.run_id, again=("jot",))


async def test_where_both_are_kept_or_both_run_anew_nothing_is_refused(shop):
    live = await written_first(shop, FLOW)
    after, _ = await forked(shop, live.run_id, again=("after",))
    _, kept = await forked(shop, live.run_id, again=("jot", "recall"))
    assert answer(after) == "bees" and {"jot", "recall"} <= {*kept.anew}
