"""What the output's agent says is heard while it is written; the other nodes are phases."""

from app.domain.streaming import TextDelta
from app.domain.workflows.document import AgentNode, Template
from tests.domain.workflows.worlds import chain
from tests.engine.workflows.workshop import answer, ended
from tests.waiting import until


def asks(id_: str, text: str) -> AgentNode:
    return AgentNode(id=id_, agent="writer", message=Template(text=text))


async def test_the_agent_whose_answer_is_the_runs_is_heard(shop):
    await shop.agent("Writer")
    live = await shop.begun(chain(asks("first", "quick"), asks("last", "waits {{first}}"), answer="{{last}}"))
    await until(lambda: "waits quick: done" in shop.models.calls)
    [child] = [one for one in shop.runs.live_runs() if one.started.parent]
    child.recorder.take(TextDelta("So far"))
    await until(lambda: live.draft.text == "So far")
    shop.models.gate.set()
    await ended(live)
    assert (live.draft.text, answer(live)) == ("", "waits quick: done: done")


async def test_what_other_agents_say_is_theirs(shop):
    await shop.agent("Writer")
    live = await shop.begun(chain(asks("first", "waits"), asks("last", "quick"), answer="{{last}}"))
    await until(lambda: "waits" in shop.models.calls)
    [child] = [one for one in shop.runs.live_runs() if one.started.parent]
    child.recorder.take(TextDelta("So far"))
    assert live.draft.text == ""
    shop.models.gate.set()
    await ended(live)
