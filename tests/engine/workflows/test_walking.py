"""Nodes begin when what they wait for has ended, and what they give goes on."""

from app.domain.messages import ToolCall
from app.domain.workflows.document import (
    AgentNode,
    BranchCase,
    BranchNode,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
)
from tests.domain.workflows.worlds import chain, edge, workflow
from tests.engine.scripted import reply
from tests.engine.workflows.workshop import answer, begun_nodes, end, ended, ended_nodes, known, states, why

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


def hold(id_: str, **fields: object) -> ToolNode:
    return ToolNode(id=id_, tool="hold", arguments={"text": FixedValue(value=id_)}, **fields)


def quick(id_: str) -> TransformNode:
    return TransformNode(id=id_, language="formula", code="1 + 1")


async def test_nothing_waits_for_a_slow_sibling(shop):
    wires = ("input > slow", "input > fast", "fast > after", "slow > output", "after > output")
    nodes = (hold("slow"), quick("fast"), quick("after"))
    live = await shop.begun(workflow(*nodes, wires=wires, answer="{{slow}}{{after}}"))
    async for entry in live.follow():
        if entry.event.type == "node_ended" and entry.event.node == "after":
            break
    assert states(live) == {"input": "done", "slow": "running", "fast": "done", "after": "done"}
    shop.hands.gate.set()
    await ended(live)
    assert answer(live) == "slow2"


async def test_the_way_that_is_not_taken_is_skipped_to_its_end(shop):
    pick = BranchNode(id="pick", cases=(BranchCase(name="long", formula="LEN([input.text]) > 5"),))
    wires = ("input > pick", "pick:long > far", "far > output", "pick:else > near", "near > output")
    made = workflow(pick, quick("far"), quick("near"), wires=wires, answer="{{pick}} {{far ?? no}} {{near ?? no}}")
    assert answer(await shop.ran(made, "much longer")) == "long 2 no"
    live = await shop.ran(made, "short")
    assert answer(live) == "else no 2"
    assert states(live)["far"] == "skipped" and "far" not in begun_nodes(live)


async def test_a_join_begins_with_the_first_and_cancels_the_rest(shop):
    values = {"slow": FoundValue(path="slow"), "fast": FoundValue(path="fast")}
    wires = ("input > slow", "input > fast", "slow > first", "fast > first", "first > output")
    join = JoinNode(id="first", need="any", cancel_rest=True, values=values)
    live = await shop.ran(workflow(hold("slow"), quick("fast"), join, wires=wires, answer="{{first}}"))
    assert answer(live) == '{"slow": null, "fast": 2}'
    assert states(live)["slow"] == "cancelled"
    assert end(live).status == "completed"


async def test_the_input_is_what_it_takes_and_what_came_before(shop):
    takes = {"type": "object", "properties": {"text": {"type": "string"}, "tone": {"default": "dry"}}}
    ask = InputNode(id="ask", takes=takes, history=True, files=True)
    value = FoundValue(path="[input.text, input.tone, length(ask.history), length(ask.files)]")
    made = Workflow(nodes=(ask, OutputNode(id="output", value=value)), edges=(edge("ask > output"),))
    slug = await shop.workflow(made)
    agent = next(one for one in shop.data.agents.all() if one.slug == slug)
    session = await shop.chat.new_session(agent.id)
    for said in ('["one", "dry", 0, 0]', '["two", "dry", 2, 0]'):
        live = await shop.chat.send(session.id, said[2:5])
        await ended(live)
        assert answer(live) == said
    made_of_fields = await shop.ran(made, '{"text": "three", "tone": 4}')
    assert answer(made_of_fields) == '["three", 4, 0, 0]'
    assert answer(await shop.ran(made, '{"text": "cut \\ud83d", "tone": 4}')) == '["cut ?", 4, 0, 0]'


async def test_a_message_that_the_input_does_not_take_fails_the_run_at_once(shop):
    takes = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}, "required": ["text"]}
    made = Workflow(
        nodes=(InputNode(id="ask", title="Ask", takes=takes), OutputNode(id="output", value=Template(text="hi"))),
        edges=(edge("ask > output"),),
    )
    live = await shop.ran(made, "too long")
    assert (end(live).status, end(live).error.failure) == ("failed", "node")
    assert why(live).startswith("Ask: What it was given does not fit its schema. text: ")


async def test_a_value_that_is_too_large_for_the_trace_is_kept_beside_it(shop):
    long = TransformNode(id="long", language="python", code="'x' * 50000")
    live = await shop.ran(chain(long, quick("after"), answer="{{long}}"))
    assert answer(live) == "x" * 50000
    run = known(live).by_call["long"]
    assert run.whole_output is not None and run.whole_output.size == 50002
    assert len(str(run.output)) == 4000


async def test_python_reads_what_it_is_given_and_nothing_else(shop):
    code = "[word.upper() for word in inputs['words']]"
    words = TransformNode(id="words", language="python", code=code, inputs={"words": FixedValue(value=["a", "b"])})
    assert answer(await shop.ran(chain(words, answer="{{words}}"))) == '["A", "B"]'
    broken = TransformNode(id="words", title="Shout", language="python", code="inputs['gone']")
    assert why(await shop.ran(chain(broken))).startswith("Shout: ")


async def test_an_answer_with_a_schema_is_read_and_checked(shop):
    schema = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
    await shop.agent("Judge", output_schema=schema)
    ask = AgentNode(id="judge", title="Judge", agent="judge", message=Template(text="{{input.text}}"))
    made = chain(ask, answer="{{judge.score}}")
    shop.models.plans["fine"] = [reply('```json\n{"score": 4}\n```')]
    shop.models.plans["half"] = [reply('{"score": 5, "why": "cut \\ud83d"}')]
    shop.models.plans["odd"] = [reply('{"score": "four"}')]
    assert answer(await shop.ran(made, "fine")) == "4"
    assert answer(await shop.ran(made, "half")) == "5"
    assert "does not fit its schema. score: " in why(await shop.ran(made, "odd"))
    assert why(await shop.ran(made, "words")).startswith("Judge: Its answer is not the JSON that it should be")


async def test_a_workflow_asks_another_one_with_its_fields(shop):
    takes = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["text", "count"],
    }
    value = FoundValue(path="{said: input.text, more: input.count}")
    inner = Workflow(
        nodes=(InputNode(id="input", takes=takes), OutputNode(id="output", value=value)),
        edges=(edge("input > output"),),
    )
    await shop.workflow(inner, "Inner")
    ask = AgentNode(id="ask", agent="inner", message=Template(text="hello"), variables={"count": FixedValue(value=3)})
    live = await shop.ran(chain(ask, answer="{{ask.said}} {{ask.more}}"))
    assert answer(live) == "hello 3"


async def test_the_agents_below_have_their_tools_under_their_own_policies(shop):
    await shop.agent("Poster", "post", "add")
    ask = AgentNode(id="ask", agent="poster", message=Template(text="go"), tools=("post",))
    shop.models.plans["go"] = [reply("", ToolCall(call_id="c", name="post", arguments={"text": "x"}))]
    await shop.ran(chain(ask, answer="{{ask}}"))
    assert shop.hands.did == ["x"]
    assert [[tool.name for tool in request.tools] for request in shop.models.requests] == [["post"], ["post"]]


async def test_the_variant_that_is_active_at_the_beginning_is_that_of_the_run(shop):
    await shop.agent("Writer")
    ask = AgentNode(id="draft", agent="writer", message=Template(text="x"))
    live = await shop.ran(chain(ask))
    assert live.started.workflow.by_id()["draft"].variant == 1


async def test_the_first_output_that_was_reached_answers(shop):
    pick = BranchNode(id="pick", cases=(BranchCase(name="yes", formula='[input.text] = "yes"'),))
    outputs = (OutputNode(id="first", value=Template(text="1")), OutputNode(id="second", value=Template(text="2")))
    wires = ("input > pick", "pick:yes > first", "pick:else > second")
    made = Workflow(nodes=(InputNode(id="input"), pick, *outputs), edges=tuple(map(edge, wires)))
    assert (answer(await shop.ran(made, "yes")), answer(await shop.ran(made, "no"))) == ("1", "2")


async def test_a_workflow_that_answers_null_gives_null_to_the_one_that_asked(shop):
    nothing = OutputNode(id="output", value=FixedValue(value=None))
    inner = Workflow(nodes=(InputNode(id="input"), nothing), edges=(edge("input > output"),))
    ask = AgentNode(id="ask", agent=await shop.workflow(inner), message=Template(text="x"))
    is_null = TransformNode(id="is_null", code="type(ask)")
    live = await shop.ran(chain(ask, is_null, answer="{{is_null}}"))
    assert (answer(live), known(live).by_call["ask"].value) == ("null", None)


async def test_a_file_that_a_tool_made_is_not_taken_for_what_it_returned(shop):
    live = await shop.ran(chain(ToolNode(id="make", tool="export"), answer="{{make}}"))
    assert answer(live) == "made"
