import pytest

from app.domain.workflows.checking import errors, faults
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    BranchCase,
    BranchNode,
    Calculated,
    Carried,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    NoteNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
)
from app.domain.workflows.world import KnownAgent, KnownVariant
from tests.domain.workflows.worlds import chain, edge, workflow, world
from tests.processor import at_work

HELLO = Template(text="{{input.text}}")
DRAFT = AgentNode(id="draft", title="Draft", agent="writer", message=HELLO)
REVIEW = AgentNode(id="review", title="Review", agent="critic", message=Template(text="{{draft}}"))
NOW = ToolNode(id="now", title="Now", tool="now")
SORT = BranchNode(id="sort", title="Sort", cases=(BranchCase(name="long", formula="LEN(draft) > 100"),))


def fetch(**arguments):
    return ToolNode(id="get", title="Get", tool="fetch", arguments=arguments)


def told(document, **agents):
    return [(one.severity, one.node, one.field, one.text) for one in faults(document, world(**agents))]


def said(document, **agents):
    """The text of the only fault."""
    [(_, _, _, text)] = told(document, **agents)
    return text


def test_a_sound_workflow_has_no_faults():
    assert told(chain(DRAFT, REVIEW, answer="{{review.score}}: {{draft}}")) == []


def test_a_fault_names_node_field_and_the_way_out():
    document = chain(fetch(), answer="{{get}}")
    assert told(document) == [
        ("error", "get", "arguments.url", "“Get” (get) does not say “url”, which fetch needs. Fill it in.")
    ]


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (AgentNode(id="a", agent="nobody", message=HELLO), "“nobody”, and there is none"),
        (AgentNode(id="a", message=HELLO), "calls no agent"),
        (AgentNode(id="a", agent="writer", variant=7, message=HELLO), "variant 7"),
        (AgentNode(id="a", agent="writer"), "says nothing"),
        (AgentNode(id="a", agent="writer", message=HELLO, variables={"mood": HELLO}), "no variable of “Writer”"),
        (AgentNode(id="a", agent="writer", message=HELLO, tools=("mail",)), "which it has not"),
        (ToolNode(id="a", tool="gone"), "“gone”, and there is none"),
        (ToolNode(id="a", tool="now", policy="off"), "is off"),
        (fetch(url=FixedValue(value=3)), "a whole number for “arguments.url”, where text is wanted. Change the value."),
        (fetch(url=HELLO, tries=Template(text="3")), "text for “arguments.tries”, where a whole number is wanted"),
        (fetch(url=HELLO, speed=HELLO), "“speed”, which it does not know. It takes: url, tries."),
        (fetch(url=Template(text="{{input.text}")), "braces in “arguments.url”"),
        (fetch(url=Template(text="{{inptu.text}}")), "no node with that id. Did you mean “input”?"),
        (fetch(url=Template(text="{{output}}")), "output does not come before it"),
        (fetch(url=Template(text="{{get}}")), "has not ended by then"),
        (fetch(url=Template(text="{{item}}")), "only in the body of a map"),
        (fetch(url=Template(text="{{round}}")), "only in the body of a loop"),
        (fetch(url=Template(text="{{input.text.words}}")), "but input.text is text"),
        (TransformNode(id="a"), "says nothing"),
        (TransformNode(id="a", code="input["), "cannot be read"),
        (TransformNode(id="a", code="input.text +", language="formula"), "cannot be read. Position"),
        (TransformNode(id="a", code="x = (", language="python"), "line 1"),
        (MapNode(id="a", items=HELLO), "text for “items”, where a list is wanted"),
        (LoopNode(id="a", until="TRUE"), "how many rounds it goes at most"),
        (LoopNode(id="a", until="carry.x", most=2), "cannot be read"),
        (LoopNode(id="a", until="1", most=2, carry={"rounds": Carried()}), "cannot carry “rounds”"),
        (InputNode(id="another"), "has 2 inputs"),
        (JoinNode(id="a", need=3), "waits for 3 edges, and 1 lead to it"),
        (ToolNode(id="item", tool="now"), "means something else in bindings"),
        (ToolNode(id="a", tool="now", on_error="route"), "Connect its port “error”"),
        (ToolNode(id="a", tool="now", scope="gone"), "no map or loop of that id"),
        (LoopNode(id="a", scope="a", until="1", most=1), "stands in itself"),
    ],
)
def test_what_is_wrong_with_a_node_is_an_error(node, words):
    assert words in " ".join(one.text for one in errors(faults(chain(node), world())))


def test_schemas_are_looked_at():
    bad = {"type": "object", "properties": {"a": {"type": "texts"}}}
    document = Workflow(
        nodes=(InputNode(id="input", takes=bad), OutputNode(id="output", value=HELLO)), edges=(edge("input > output"),)
    )
    assert "properties.a.type" in told(document)[0][3]
    document = document.model_copy(
        update={"nodes": (InputNode(id="input", takes={"type": "string"}), document.nodes[1])}
    )
    assert any("no fields" in text for *_, text in told(document))


def test_the_edges_of_a_document_have_to_lead_somewhere():
    note = NoteNode(id="note")
    document = workflow(DRAFT, note, wires=["input > draft", "draft > output", "draft > gone", "draft:yes > output"])
    assert [text.partition(" has ")[2][:20] for *_, text in told(document)] == [
        "an edge with “gone”,",
        "an edge from a port ",
    ]
    document = workflow(DRAFT, note, wires=["input > draft", "draft > output", "draft > note", "draft > input"])
    assert all("to which no edge can lead" in text for *_, text in told(document))


def test_a_circle_is_told_in_its_order():
    document = workflow(DRAFT, REVIEW, NOW, wires=["input > draft", "draft > review", "review > now", "now > draft"])
    text = said(document)
    assert text.startswith("These lead in a circle: “Review” (review) → “Now” (now) → “Draft” (draft) → “Review”")


def test_two_nodes_of_one_id_are_told_of_the_second():
    assert "has the id of another node" in said(chain(DRAFT, DRAFT))


def test_a_document_without_ends_is_told_of():
    assert {text for *_, text in told(Workflow(nodes=(NoteNode(id="a"),)))} == {
        "The workflow has no input. Add one.",
        "The workflow never comes to an answer. Add an output and connect it.",
    }


def test_what_is_never_reached_or_leads_nowhere_is_a_warning():
    document = workflow(NOW, DRAFT, wires=["input > output", "input > draft"])
    assert [(severity, id_) for severity, id_, *_ in told(document)] == [("warning", "now"), ("warning", "draft")]


def test_what_may_be_skipped_needs_a_default():
    short = AgentNode(id="short", agent="writer", message=HELLO)
    wires = [
        "input > draft",
        "draft > sort",
        "sort:long > review",
        "sort:else > short",
        "review > output",
        "short > output",
    ]
    document = workflow(DRAFT, SORT, REVIEW, short, wires=wires, answer="{{short}}")
    assert "“Review” (review), which" in said(
        document.model_copy(
            update={
                "nodes": (
                    *document.nodes[:-1],
                    OutputNode(id="output", value=Template(text="{{review.score}}{{short ?? }}")),
                )
            }
        )
    )
    assert "may have been skipped. Say what stands for it then: short ?? …" in said(document)
    assert told(workflow(DRAFT, SORT, REVIEW, short, wires=wires, answer="{{draft}}{{short ?? nothing}}")) == []


def test_what_all_arms_of_a_branch_come_to_is_there():
    wires = [
        "input > draft",
        "draft > sort",
        "sort:long > now",
        "sort:else > now",
        "now > output",
        "sort:else > output",
    ]
    assert told(workflow(DRAFT, SORT, NOW, wires=[*wires[:5]], answer="{{now}}")) == []
    assert told(workflow(DRAFT, SORT, NOW, wires=wires, answer="{{now}}")) == []


def test_nodes_beside_each_other_are_both_there_after_them():
    other = AgentNode(id="other", agent="writer", message=HELLO)
    wires = ["input > draft", "input > other", "draft > output", "other > output"]
    assert told(workflow(DRAFT, other, wires=wires, answer="{{draft}}{{other}}")) == []
    assert "does not come before it" in " ".join(
        text
        for *_, text in told(
            workflow(DRAFT, other.model_copy(update={"message": Template(text="{{draft}}")}), wires=wires)
        )
    )


def test_after_a_join_that_waits_for_one_the_others_may_be_missing():
    other = AgentNode(id="other", agent="writer", message=HELLO)
    first = JoinNode(id="first", need="any", values={"a": FoundValue(path="draft"), "b": FoundValue(path="other")})
    wires = ["input > draft", "input > other", "draft > first", "other > first", "first > output"]
    assert told(workflow(DRAFT, other, first, wires=wires, answer="{{first}}")) == []
    assert "may have been skipped" in said(workflow(DRAFT, other, first, wires=wires, answer="{{draft}}"))
    both = first.model_copy(update={"need": "all"})
    assert told(workflow(DRAFT, other, both, wires=wires, answer="{{draft}}")) == []


def test_a_failure_that_leads_on_may_leave_no_value():
    risky = ToolNode(id="risky", tool="now", on_error="route")
    wires = ["input > risky", "risky > draft", "risky:error > output", "draft > output"]
    assert "“Draft” (draft), which may have been skipped" in said(
        workflow(risky, DRAFT, wires=wires, answer="{{draft}}")
    )


def test_a_branch_leads_on_whatever_holds():
    wires = ["input > draft", "draft > sort", "sort:long > output"]
    assert said(workflow(DRAFT, SORT, wires=wires)) == (
        "“Sort” (sort) leads nowhere when no case holds. Connect its port “else”."
    )
    document = workflow(DRAFT, SORT, wires=["input > draft", "draft > sort", "sort:else > output"])
    assert told(document)[0][:3] == ("warning", "sort", "edges")


MAP = MapNode(id="each", title="Each", items=FoundValue(path="input.list"), gives=Template(text="{{inner}} {{index}}"))
INNER = AgentNode(id="inner", agent="writer", message=Template(text="{{item.name}} {{input.list[0]}}"), scope="each")
ITEMS = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
LISTED = InputNode(id="input", takes={"type": "object", "properties": {"list": ITEMS}})


def mapped(*nodes, wires=("input > each", "each > output"), answer="{{each}}"):
    document = workflow(*nodes, wires=wires, answer=answer)
    return document.model_copy(update={"nodes": (LISTED, *document.nodes[1:])})


def test_the_body_of_a_map_reads_its_item():
    assert told(mapped(MAP, INNER)) == []
    wrong = INNER.model_copy(update={"message": Template(text="{{item.nmae}}")})
    assert told(mapped(MAP, wrong))[0][0] == "warning"
    assert "item says nothing. It has: name." in said(mapped(MAP, wrong))


def test_no_edge_crosses_the_border_of_a_scope():
    document = mapped(MAP, INNER, wires=("input > each", "each > output", "input > inner"))
    assert "across the border" in said(document)


def test_what_stands_in_a_body_is_read_through_its_map():
    assert "stands in the body of “Each” (each). Read what that gives: each" in said(
        mapped(MAP, INNER, answer="{{inner}}")
    )


def test_a_node_in_a_body_that_may_be_skipped_needs_a_default_in_what_the_map_gives():
    sort = BranchNode(id="sort", scope="each", cases=(BranchCase(name="yes", formula="index > 1"),))
    other = ToolNode(id="other", tool="now", scope="each")
    wires = ("input > each", "each > output", "sort:yes > inner", "sort:else > other")
    assert "“gives”" not in said(mapped(MAP, sort, INNER, other, wires=wires))
    assert "inner, which may have been skipped" in said(mapped(MAP, sort, INNER, other, wires=wires))


def test_a_loop_reads_what_it_carries():
    work = AgentNode(id="work", agent="critic", message=Template(text="{{carry.text}} {{round}}"), scope="loop")
    loop = LoopNode(
        id="loop",
        carry={"text": Carried(first=HELLO, next=Template(text="{{work.notes}} {{carry.text}}"))},
        until="[work.score] > 3",
        most=5,
    )
    assert (
        told(workflow(loop, work, wires=["input > loop", "loop > output"], answer="{{loop.text}} {{loop.rounds}}"))
        == []
    )
    wrong = told(workflow(loop, work, wires=["input > loop", "loop > output"], answer="{{loop.txet}}"))
    assert "It has: text, rounds, reached_most." in wrong[0][3]


def test_a_side_effect_in_a_map_with_retries_is_a_warning():
    send = ToolNode(id="inner", tool="mail", arguments={"to": FixedValue(value=["a"])}, retries=2, scope="each")
    assert told(mapped(MAP, send))[0][:3] == ("warning", "inner", "retries")


def write(id_, path="a.txt"):
    return ToolNode(id=id_, tool="write_file", arguments={"path": FixedValue(value=path)})


def test_two_nodes_that_may_write_a_file_at_once_are_a_warning():
    wires = ["input > one", "input > two", "one > output", "two > output"]
    assert "write a.txt at the same time" in said(workflow(write("one"), write("two"), wires=wires))
    assert told(workflow(write("one"), write("two", "b.txt"), wires=wires)) == []
    assert told(chain(write("one"), write("two"))) == []
    arms = ["input > draft", "draft > sort", "sort:long > one", "sort:else > two", "one > output", "two > output"]
    assert told(workflow(DRAFT, SORT, write("one"), write("two"), wires=arms)) == []


def calling(slug, **more):
    return KnownVariant(workflow=chain(AgentNode(id="a", agent=slug, message=HELLO), **more))


def test_a_workflow_that_comes_to_call_itself_is_refused():
    others = {"one": KnownAgent("One", 1, {1: calling("two")}), "two": KnownAgent("Two", 1, {1: calling("me")})}
    others["me"] = KnownAgent("Me", 1, {1: calling("one")})
    document = chain(AgentNode(id="a", agent="one", message=HELLO))
    assert "calls itself: one → two → me" in said(document, slug="me", **others)


def test_workflows_in_each_other_are_four_deep_at_most():
    others = {f"w{n}": KnownAgent("W", 1, {1: calling(f"w{n + 1}")}) for n in range(6)}
    assert "more than 4 deep" in said(chain(AgentNode(id="a", agent="w0", message=HELLO)), **others)
    assert (
        told(
            chain(AgentNode(id="a", agent="w2", message=HELLO)),
            **{**others, "w5": KnownAgent("W", 1, {1: KnownVariant()})},
        )
        == []
    )


def test_a_workflow_is_given_the_fields_it_needs():
    takes = {"type": "object", "properties": {"text": {}, "city": {}}, "required": ["text", "city"]}
    inner = Workflow(nodes=(InputNode(id="input", takes=takes),))
    others = {"flow": KnownAgent("Flow", 1, {1: KnownVariant(workflow=inner)})}
    call = AgentNode(id="a", agent="flow", message=HELLO)
    assert "does not say “city”" in said(chain(call), **others)
    assert told(chain(call.model_copy(update={"variables": {"city": HELLO}})), **others) == []


def test_too_large_a_document_is_told_of():
    many = Workflow(nodes=tuple(NoteNode(id=f"n{n}") for n in range(501)))
    assert "501 nodes; 500 is the most" in said(many)
    assert "256 kB is the most" in said(Workflow(nodes=(NoteNode(id="a", note="x" * 256_000),)))


def test_what_may_not_fit_is_said_and_no_error():
    document = chain(
        AgentNode(id="review", agent="critic", message=HELLO),
        fetch(url=HELLO, tries=FoundValue(path="review.score")),
    )
    assert [(severity, where) for severity, _, where, _ in told(document)] == [("info", "arguments.tries")]


def test_a_formula_fits_where_a_number_is_wanted():
    assert told(chain(fetch(url=HELLO, tries=Calculated(formula="LEN([input.text])")))) == []


def test_an_approval_leads_on_either_way():
    ask = ApprovalNode(id="ask", question="Well?")
    document = workflow(ask, wires=["input > ask", "ask:approved > output"])
    assert told(document)[0][:3] == ("warning", "ask", "edges")
    assert "says nothing" in " ".join(text for *_, text in told(chain(ask.model_copy(update={"question": " "}))))


def test_maps_stand_eight_deep_in_each_other_at_most():
    maps = [MapNode(id=f"m{n}", scope=f"m{n - 1}" if n else "", items=FixedValue(value=[1])) for n in range(9)]
    wires = ["input > m0", "m0 > output"]
    assert told(workflow(*maps, wires=wires)) == []
    assert "more than 8 maps and loops" in said(workflow(*maps, NoteNode(id="a", scope="m8"), wires=wires))


def test_warnings_never_stand_in_the_way_of_an_error():
    wrong = TransformNode(id="wrong", language="formula", code="[nobody] + 1")
    asks = [ApprovalNode(id=f"ask{n}", question="Well?") for n in range(250)]
    found = faults(workflow(*asks, wrong, wires=["input > wrong", "wrong > output"]), world())
    assert [one.node for one in errors(found)] == ["wrong"]
    assert len(found) <= 500


def test_many_writers_of_one_path_hide_no_others():
    one_after_the_other = [write(f"w{n}", "a.txt") for n in range(30)]
    beside = [write("left", "b.txt"), write("right", "b.txt")]
    wires = [f"w{n} > w{n + 1}" for n in range(29)]
    ends = ["input > w0", "w29 > output", "input > left", "input > right", "left > output", "right > output"]
    [text] = [text for *_, text in told(workflow(*beside, *one_after_the_other, wires=[*wires, *ends]))]
    assert "may write b.txt at the same time" in text


def hostile():
    """Documents as large as may be, of which each lets another part of the check do much."""
    path = FixedValue(value="a.txt")
    writers = [ToolNode(id=f"w{n}", tool="write_file", arguments={"path": path}) for n in range(400)]
    arms = BranchNode(id="sort", cases=tuple(BranchCase(name=f"c{n}", formula="1") for n in range(400)))
    yield workflow(arms, *writers, wires=["input > sort", *(f"sort:c{n} > w{n}" for n in range(400))])
    yield workflow(arms, *writers[:20], wires=[f"sort:c{n} > w{n % 20}" for n in range(400)] * 3)
    yield chain(fetch(url=Template(text="".join(f"{{{{x{n}}}}}" for n in range(20_000)))))
    yield chain(fetch(**{f"a{n}": Template(text=f"{{{{nodx{n}}}}}") for n in range(3_000)}))
    yield workflow(*writers, wires=[f"w{n} > w{(n * 7) % 400}" for n in range(400)])
    sorts = [arms.model_copy(update={"id": f"s{n}", "cases": arms.cases[:9]}) for n in range(100)]
    of_paths = [write(f"w{n}", f"{n % 18}.txt") for n in range(378)]
    fan = [f"s{n}:c{m} > s{n + 1}" for n in range(99) for m in range(9)]
    line = [f"w{n} > w{n + 1}" for n in range(377)]
    yield workflow(*sorts, *of_paths, wires=["input > s0", *fan, "s99:c0 > w0", *line, "w377 > output"])
    layers = [f"w{n} > w{m}" for n in range(0, 60) for m in range(n + 1, 60)]
    yield workflow(*writers[:60], wires=["input > w0", *layers])
    deep = [MapNode(id=f"m{n}", scope=f"m{n - 1}" if n else "", items=FoundValue(path="item")) for n in range(490)]
    yield workflow(*deep, wires=["input > m0"])
    echo = [TransformNode(id=f"e{n}", code=f"e{n - 1}" if n else "input") for n in range(490)]
    yield chain(*echo)


@pytest.mark.parametrize("place", range(9))
def test_a_hostile_document_is_checked_in_time(place):
    [document] = [one for number, one in enumerate(hostile()) if number == place]
    with at_work() as work:
        found = faults(document, world())
        assert len(found) <= 501
    assert work.seconds < 3
