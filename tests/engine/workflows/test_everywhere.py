"""A workflow is an agent: compared, begun in the background, answered once more, given attachments."""

from app.domain.comparisons import ColumnChoice
from app.domain.messages import FilePart
from app.domain.provenance import Trigger
from app.domain.workflows.document import FoundValue, InputNode, OutputNode, Workflow
from app.engine.sessions.compare import Compare
from tests.domain.workflows.worlds import chain, edge
from tests.engine.workflows.test_walking import ADD
from tests.engine.workflows.workshop import answer, ended

SUMS = chain(ADD, answer="{{input.text}} {{sum}}")


def agent_of(shop, slug):
    return next(one for one in shop.data.agents.all() if one.slug == slug)


async def test_it_is_compared_with_a_plain_agent(shop):
    flow, plain = agent_of(shop, await shop.workflow(SUMS)), agent_of(shop, await shop.agent("Writer"))
    compare = Compare(shop.chat, shop.data.sessions, shop.data.comparisons, shop.runs, shop.data.scores)
    columns = [ColumnChoice(agent_id=one.id, variant=1) for one in (flow, plain)]
    comparison = await compare.start(columns)
    sent = await compare.send(comparison.id, "hi")
    for live in sent:
        await ended(live)
    assert [answer(live) for live in sent] == ["hi 5", "hi: done"]


async def test_it_goes_on_in_the_background(shop):
    flow = agent_of(shop, await shop.workflow(SUMS))
    live = await shop.jobs.start(flow.id, "hi", trigger=Trigger(kind="page"))
    await ended(live)
    assert answer(live) == "hi 5" and live.started.background
    assert [row.run_id for row in shop.jobs.ended] == [live.run_id]


async def test_a_message_is_answered_once_more_and_in_other_words(shop):
    live = await shop.ran(SUMS, "one")
    again = await shop.chat.regenerate(live.started.session_id, live.run_id)
    await ended(again)
    other = await shop.chat.edit(live.started.session_id, live.run_id, "two")
    await ended(other)
    assert (answer(again), answer(other)) == ("one 5", "two 5")


async def test_what_is_attached_is_a_file_that_it_may_read_of(shop):
    takes = InputNode(id="input", files=True)
    output = OutputNode(id="output", value=FoundValue(path="input.files"))
    flow = agent_of(shop, await shop.workflow(Workflow(nodes=(takes, output), edges=(edge("input > output"),))))
    session = await shop.chat.new_session(flow.id)
    digest = await shop.data.artifacts.put(b"words")
    part = FilePart(artifact=digest, media_type="text/plain", filename="a.txt", size=5)
    live = await shop.chat.send(session.id, "hi", (part,))
    await ended(live)
    assert answer(live) == '["/a.txt"]'
