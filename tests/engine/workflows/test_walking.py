"""Nodes begin when what they wait for has ended, and what they give goes on."""

from app.domain.workflows.document import (
    AgentNode,
    FixedValue,
    Template,
    ToolNode,
    TransformNode,
)
from tests.domain.workflows.worlds import chain
from tests.engine.workflows.workshop import answer, begun_nodes, end, ended_nodes

ADD = ToolNode(id="sum", title="Sum", tool="add", arguments={"x": FixedValue(value=2), "y": FixedValue(value=3)})


async def test_what_a_tool_returns_goes_into_the_answer(shop):
    live = await shop.ran(chain(ADD, answer="{{input.text}}: {{sum}}"), "two and three")
    assert (end(live).status, answer(live)) == ("completed", "two and three: 5")
    assert begun_nodes(live) == ended_nodes(live) == ["input", "sum", "output"]


async def test_what_a_transform_makes_is_a_value(shop):
    made = chain(ADD, TransformNode(id="twice", language="formula", code="[sum] * 2"), answer="{{twice}}")
    assert answer(await shop.ran(made)) == "10"


async def test_an_agent_is_asked_in_a_run_of_its_own(shop):
    await shop.agent("Writer")
    ask = AgentNode(id="draft", agent="writer", message=Template(text="write on {{input.text}}"))
    live = await shop.ran(chain(ask, answer="{{draft}}!"), "bees")
    assert answer(live) == "write on bees: done!"
    assert shop.models.calls == ["write on bees"]
