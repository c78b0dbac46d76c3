"""What the settings of a node ask, by its kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, assert_never

from nicegui import events, ui

from app.domain.agents import Agent, declared_of, tools_of
from app.domain.tools import ToolSpec
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    Binding,
    BranchCase,
    BranchNode,
    Carried,
    FixedValue,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    Node,
    NoteNode,
    OutputNode,
    ToolNode,
    TransformNode,
    Working,
)
from app.ui.build.sheet import Offer, Sheet
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import tag
from app.ui.elements.visible import title_of, visible

N = TypeVar("N", BranchNode, LoopNode)


@dataclass(frozen=True)
class Around:
    """What a node's settings offer."""

    agents: Sequence[Agent]
    tools: Mapping[str, ToolSpec]
    offers: Callable[[Node], Sequence[Offer]]
    """What its bindings may read."""


def own_fields(sheet: Sheet, node: Node, around: Around) -> None:
    match node:
        case InputNode():
            sheet.json("takes", "What a run is given (JSON Schema)", node.takes)
            sheet.switch("history", "Give the messages before, too", node.history)
            sheet.switch("files", "Give the paths of the session's files, too", node.files)
        case OutputNode():
            sheet.binding("value", "Answer", node.value)
            sheet.json("output_schema", "Schema of the answer", node.output_schema, may_be_empty=True)
        case AgentNode():
            _agent(sheet, node, around)
        case ToolNode():
            _tool(sheet, node, around)
        case TransformNode():
            languages = {"jmespath": "JMESPath", "formula": "Formula", "python": "Python, without files or network"}
            sheet.choose("language", "Written in", languages, node.language)
            sheet.text("code", "Expression", node.code, lines=True, mono=True)
            if node.language == "python":
                sheet.bindings("inputs", "Inputs", node.inputs)
        case NoteNode():
            sheet.text("note", "Words", node.note, lines=True)
        case BranchNode() | MapNode() | LoopNode() | ApprovalNode() | JoinNode():
            _order_fields(sheet, node)
        case _:
            assert_never(node)


def _order_fields(sheet: Sheet, node: BranchNode | MapNode | LoopNode | ApprovalNode | JoinNode) -> None:
    """Of the kinds that say what comes when."""
    match node:
        case BranchNode():
            _cases(sheet, node)
        case MapNode():
            sheet.binding("items", "Items", node.items)
            sheet.binding("gives", "What an item comes to", node.gives)
            sheet.number("at_once", "At once", node.at_once)
            sheet.number("most", "Items at most", node.most)
            ways = {"fail": "Fails the map", "null": "Is null in the list", "drop": "Is left out of the list"}
            sheet.choose("each_error", "An item that fails", ways, node.each_error)
        case LoopNode():
            _carried(sheet, node)
            sheet.text("until", "Until this formula holds", node.until, mono=True)
            sheet.number("most", "Rounds at most", node.most)
        case ApprovalNode():
            sheet.text("question", "Question", node.question, lines=True)
            sheet.json("form", "Values asked for (JSON Schema; empty: yes or no)", node.form, may_be_empty=True)
            sheet.bindings("shown", "Shown beside it", node.shown)
        case JoinNode():
            sheet.bindings("values", "Values", node.values)
            needs = {"all": "All edges", "any": "The first that is alive"}
            wait = needs | {str(n): f"{n} of them" for n in range(2, 9)}
            sheet.choose("need", "Waits for", wait, str(node.need), lambda it: int(it) if it.isdecimal() else it)
            sheet.switch("cancel_rest", "Cancel what is no longer needed", node.cancel_rest)
        case _:
            assert_never(node)


def _agent(sheet: Sheet, node: AgentNode, around: Around) -> None:
    agents = {one.slug: visible(one.name) for one in around.agents}
    sheet.choose("agent", "Agent", agents if node.agent else {"": "Choose…"} | agents, node.agent)
    agent = next((one for one in around.agents if one.slug == node.agent), None)
    if agent is not None:
        variants = {"": f"The active one (now v{agent.active})"} | {
            str(one.number): f"v{one.number}" for one in agent.variants
        }
        chosen = "" if node.variant is None else str(node.variant)
        sheet.pick(
            "Variant", variants, chosen, lambda it: sheet.set("variant", int(it) if it else None), testid="node-variant"
        )
        sheet.note("variant")
    sheet.binding("message", "Message", node.message)
    if agent is None:
        return
    number = node.variant if any(one.number == node.variant for one in agent.variants) else agent.active
    behaviour = agent.variant(number or agent.active).behaviour
    if known := [one.name for one in declared_of(behaviour)]:
        sheet.bindings("variables", "Variables", node.variables, known=known, open_=False)
    if own := [one.name for one in tools_of(behaviour) if one.policy != "off"]:
        box = ui.select(own, value=list(node.tools or ()), label="Only these of its tools", multiple=True)
        box.props("outlined dense options-dense use-chips stack-label hint='Empty: all of them'")
        box.on_value_change(lambda event: sheet.set("tools", tuple(event.value) or None))


def _tool(sheet: Sheet, node: ToolNode, around: Around) -> None:
    names = {name: title_of(spec) for name, spec in sorted(around.tools.items())}
    sheet.choose("tool", "Tool", names if node.tool else {"": "Choose…"} | names, node.tool)
    spec = around.tools.get(node.tool)
    properties = spec.parameters.get("properties") if spec else None
    known = list(properties) if isinstance(properties, dict) else []
    is_open = not known or bool(spec and spec.parameters.get("additionalProperties"))
    sheet.bindings("arguments", "Arguments", node.arguments, known=known, open_=is_open)
    sheet.choose("policy", "Permission", {"auto": "Runs by itself", "ask": "A person is asked first"}, node.policy)


def _cases(sheet: Sheet, node: BranchNode) -> None:
    def put(place: int, field: str, event: events.ValueChangeEventArguments[str | None]) -> None:
        cases = list(_now(sheet, node).cases)
        cases[place] = cases[place].model_copy(update={field: event.value or ""})
        sheet.set("cases", cases)

    def drop(place: int) -> None:
        cases = _now(sheet, node).cases
        sheet.set_anew("cases", (*cases[:place], *cases[place + 1 :]))

    sheet.title("Cases: the first whose formula holds")
    for place, case in enumerate(node.cases):
        with ui.element("div").classes("row-line sheet-row"):
            name = ui.input(value=case.name, on_change=partial(put, place, "name")).classes("case-name")
            name.props("outlined dense debounce=600 maxlength=60").props["aria-label"] = f"Name of case {place + 1}"
            formula = ui.input(value=case.formula, on_change=partial(put, place, "formula")).classes("grow mono-box")
            formula.props["aria-label"] = f"Formula of case {place + 1}"
            formula.props(
                'outlined dense debounce=300 data-testid=case-formula placeholder="[sort.kind] = \\"refund\\""'
            )
            icon_button("close", f"Remove case {place + 1}", partial(drop, place)).classes("sheet-remove")
        sheet.note(f"cases.{place}")
    sheet.note("cases")
    new = BranchCase(name=f"case {len(node.cases) + 1}")
    button(
        "Add a case", lambda: sheet.set_anew("cases", (*_now(sheet, node).cases, new)), icon="add", testid="add-case"
    )


def _carried(sheet: Sheet, node: LoopNode) -> None:
    def put(name: str, field: str, binding: Binding) -> None:
        carry = _now(sheet, node).carry
        sheet.set("carry", {**carry, name: carry[name].model_copy(update={field: binding})})

    def drop(name: str) -> None:
        sheet.set_anew("carry", {key: one for key, one in _now(sheet, node).carry.items() if key != name})

    def add() -> None:
        carry = _now(sheet, node).carry
        name = str(box.value or "").strip() or f"value{len(carry) + 1}"
        sheet.set_anew("carry", {**carry, name: Carried(first=FixedValue(), next=FixedValue())})

    for name, one in node.carry.items():
        with ui.element("div").classes("row-line"):
            ui.html(tag("h3", f"Carries {visible(name)}", cls="field-title"), sanitize=False).classes("grow")
            icon_button("close", f"Carry {visible(name)} no more", partial(drop, name)).classes("sheet-remove")
        sheet.binding(f"carry.{name}.first", "First", one.first, partial(put, name, "first"))
        sheet.binding(f"carry.{name}.next", "After each round", one.next, partial(put, name, "next"))
    with ui.element("div").classes("row-line sheet-row"):
        box = ui.input(placeholder="name").props('outlined dense maxlength=60 aria-label="Name of a value to carry"')
        box.classes("grow")
        button("Carry a value", add, icon="add")


def failing(sheet: Sheet, node: Working) -> None:
    with ui.expansion("When it fails").props("dense").classes("node-failing"):
        ways = {"fail": "The run fails", "route": "Goes on at the port “error”", "value": "Goes on with a value"}
        sheet.choose("on_error", "Then", ways, node.on_error)
        if node.on_error == "value":
            sheet.json("error_value", "That value", node.error_value)
        sheet.number("retries", "Tries again", node.retries)
        sheet.number("timeout", "Seconds for one try", node.timeout, hint="as limits say")


def _now(sheet: Sheet, node: N) -> N:
    """The node as it was written since."""
    return sheet.node if isinstance(sheet.node, type(node)) else node
