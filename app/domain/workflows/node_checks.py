"""What may be wrong with a node of each kind by itself."""

import json
from functools import lru_cache
from typing import assert_never

from app.domain.json_schema import schema_mistake
from app.domain.reading.python_source import tree_of
from app.domain.tools import JsonSchema, canonical_name
from app.domain.workflows.document import (
    ELSE,
    ERROR,
    NEXT,
    AgentNode,
    ApprovalNode,
    Binding,
    BranchNode,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    Node,
    NoteNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
    Working,
    ports,
)
from app.domain.workflows.references import Checking, Severity
from app.domain.workflows.world import KnownVariant

DEEPEST = 4
"""Workflows in each other."""
LONGEST_CODE = 20_000  # characters
_LIST: JsonSchema = {"type": "array"}
_OBJECT: JsonSchema = {"type": "object"}


def check_node(check: Checking, node: Node) -> None:
    match node:
        case InputNode():
            _schema(check, node, "takes", node.takes)
        case OutputNode():
            _schema(check, node, "output_schema", node.output_schema)
            _said(check, node, "value", node.value, "Say what it answers.")
            check.binding(node, "value", node.value, wanted=node.output_schema)
        case AgentNode():
            _agent(check, node)
        case ToolNode():
            _tool(check, node)
        case TransformNode():
            _transform(check, node)
        case BranchNode():
            _branch(check, node)
        case MapNode():
            check.binding(node, "items", node.items, wanted=_LIST)
            check.binding(node, "gives", node.gives, in_body=True)
        case LoopNode():
            _loop(check, node)
        case ApprovalNode():
            _approval(check, node)
        case JoinNode():
            _join(check, node)
        case NoteNode():
            pass
        case _:
            assert_never(node)


def check_route(check: Checking, node: Node) -> None:
    """Its failures have to lead somewhere, if they are to lead on."""
    if isinstance(node, Working) and node.on_error == "route" and not _leads(check, node, ERROR):
        check.add(node, "on_error", f"leads nowhere when it fails. Connect its port “{ERROR}”.")


def _agent(check: Checking, node: AgentNode) -> None:
    _said(check, node, "message", node.message, "Say what the agent is told.")
    check.binding(node, "message", node.message)
    for name, binding in node.variables.items():
        check.binding(node, f"variables.{name}", binding)
    agent = check.world.agents.get(node.agent)
    if agent is None:
        words = f"calls an agent “{node.agent}”, and there is none. Choose" if node.agent else "calls no agent. Choose"
        check.add(node, "agent", f"{words} one.")
        return
    known = check.world.variant(node.agent, node.variant)
    if known is None:
        check.add(
            node, "variant", f"calls variant {node.variant} of “{agent.name}”, which there is not. Choose another."
        )
        return
    takes = _input_of(known.workflow) if known.workflow else {}
    variables = {*known.variables, *_names(takes, "properties")}
    for name in node.variables.keys() - variables if variables or not known.workflow else ():
        has = f"Its variables are: {', '.join(sorted(variables))}." if variables else "It has none."
        check.add(node, f"variables.{name}", f"fills in “{name}”, which is no variable of “{agent.name}”. {has}")
    for name in sorted(_names(takes, "required") - node.variables.keys() - {"text"}):
        check.add(node, f"variables.{name}", f"does not say “{name}”, which “{agent.name}” needs. Fill it in.")
    own = {canonical_name(name) for name in known.tools}
    for name in node.tools or ():
        if not own & {canonical_name(name), canonical_name(name).split("__", 1)[0]}:
            check.add(
                node,
                "tools",
                f"lets “{agent.name}” use {name}, which it has not. Give it to the agent, or leave it out.",
            )
    if words := _within(check, known, (node.agent,)):
        check.add(node, "agent", words)


def _within(check: Checking, variant: KnownVariant, path: tuple[str, ...]) -> str:
    """Why the workflow cannot be called, where it is one that leads back here or too deep."""
    if check.world.slug in path or path[-1] in path[:-1]:
        return f"calls a workflow that calls itself: {' → '.join(path)}. Call another agent."
    if variant.workflow is None:
        return ""
    if len(path) >= DEEPEST:
        return f"calls workflows more than {DEEPEST} deep in each other: {' → '.join(path)}. Call another agent."
    inner = {(one.agent, one.variant) for one in variant.workflow.nodes if isinstance(one, AgentNode)}
    for slug, number in sorted(inner, key=str):
        known = check.world.variant(slug, number)
        if known and (words := _within(check, known, (*path, slug))):
            return words
    return ""


def _tool(check: Checking, node: ToolNode) -> None:
    tool = check.world.tools.get(node.tool)
    if tool is None:
        words = f"calls a tool “{node.tool}”, and there is none. Choose" if node.tool else "calls no tool. Choose"
        check.add(node, "tool", f"{words} one.")
    if node.policy == "off":
        check.add(node, "policy", "calls a tool that is off. Let it run, or ask first.")
    schema = tool.parameters if tool else {}
    known, closed = schema.get("properties"), schema.get("additionalProperties") is False
    properties = known if isinstance(known, dict) else {}
    for name, binding in node.arguments.items():
        wanted = properties.get(name)
        check.binding(node, f"arguments.{name}", binding, wanted=wanted if isinstance(wanted, dict) else None)
        if tool and name not in properties and (closed or properties):
            has = f"It takes: {', '.join(properties)}." if properties else "It takes none."
            words = f"gives {node.tool} an argument “{name}”, which it does not know. {has}"
            check.add(node, f"arguments.{name}", words, "error" if closed else "warning")
    for name in sorted(_names(schema, "required") - node.arguments.keys()):
        check.add(node, f"arguments.{name}", f"does not say “{name}”, which {node.tool} needs. Fill it in.")
    in_map = any(isinstance(check.graph.nodes[id_], MapNode) for id_ in check.graph.chain(node.scope))
    if tool and tool.side_effects and not tool.idempotent and node.retries and in_map:
        check.add(
            node, "retries", "may do twice for an item what cannot be taken back. Set its retries to 0.", "warning"
        )


def _transform(check: Checking, node: TransformNode) -> None:
    if not node.code.strip():
        check.add(node, "code", "says nothing. Write what it makes.")
    elif node.language == "jmespath":
        check.binding(node, "code", FoundValue(path=node.code))
    elif node.language == "formula":
        check.formula(node, "code", node.code)
    elif words := _python_mistake(node.code):
        check.add(node, "code", f"has Python that cannot be read: {words}")
    for name, binding in node.inputs.items() if node.language == "python" else ():
        check.binding(node, f"inputs.{name}", binding)


def _branch(check: Checking, node: BranchNode) -> None:
    names = [case.name for case in node.cases]
    if not names:
        check.add(node, "cases", "has no case. Add one, with a formula that says when.")
    for place, case in enumerate(node.cases):
        if case.name in names[:place] or case.name in (ELSE, ERROR, NEXT):
            check.add(node, f"cases.{place}.name", f"has a port “{case.name}” already. Call the case something else.")
        check.formula(node, f"cases.{place}.formula", case.formula)
    for port in (*dict.fromkeys(names), ELSE):
        if not _leads(check, node, port):
            words = "no case holds" if port == ELSE else f"“{port}” holds"
            severity: Severity = "error" if port == ELSE else "warning"
            check.add(node, "edges", f"leads nowhere when {words}. Connect its port “{port}”.", severity)


def _loop(check: Checking, node: LoopNode) -> None:
    if node.most is None:
        check.add(node, "most", "does not say how many rounds it goes at most. Say so: 1 to 100.")
    check.formula(node, "until", node.until, in_body=True)
    for name, carried in node.carry.items():
        if name in ("rounds", "reached_most") or not name.isidentifier():
            check.add(node, f"carry.{name}", f"cannot carry “{name}”. Take another name, of letters, digits and _.")
        check.binding(node, f"carry.{name}.first", carried.first)
        check.binding(node, f"carry.{name}.next", carried.next, in_body=True)


def _approval(check: Checking, node: ApprovalNode) -> None:
    _said(check, node, "question", Template(text=node.question), "Say what is asked.")
    check.binding(node, "question", Template(text=node.question))
    _schema(check, node, "form", node.form)
    for name, binding in node.shown.items():
        check.binding(node, f"shown.{name}", binding)
    for port in ports(node)[:2]:
        if not _leads(check, node, port):
            check.add(node, "edges", f"leads nowhere when it is {port}. Connect its port “{port}”.", "warning")


def _join(check: Checking, node: JoinNode) -> None:
    edges = len(check.graph.before[node.id])
    if isinstance(node.need, int) and node.need > edges:
        check.add(node, "need", f"waits for {node.need} edges, and {edges} lead to it. Connect more, or need fewer.")
    for name, binding in node.values.items():
        check.binding(node, f"values.{name}", binding, may_miss=True)


def _said(check: Checking, node: Node, where: str, value: Binding, way_out: str) -> None:
    if isinstance(value, Template | FixedValue):
        words = value.text if isinstance(value, Template) else value.value
        if words is None or (isinstance(words, str) and not words.strip()):
            check.add(node, where, f"says nothing. {way_out}")


def _schema(check: Checking, node: Node, where: str, schema: JsonSchema | None) -> None:
    if not schema:
        return
    if words := _schema_words(json.dumps(schema, sort_keys=True)):
        check.add(node, where, f"has a schema in “{where}” that is none: {words}")
    elif where != "output_schema" and schema.get("type") != _OBJECT["type"]:
        check.add(node, where, f"has a schema in “{where}” of something that has no fields. Set its type to object.")


@lru_cache(maxsize=500)  # the schemas of a workflow that is built are those of the check before; one takes 1 ms
def _schema_words(schema: str) -> str:
    mistake = schema_mistake(json.loads(schema))
    return f"{'.'.join(map(str, mistake.path))}: {mistake.message}".removeprefix(": ") if mistake else ""


def _python_mistake(code: str) -> str:
    if len(code) > LONGEST_CODE:
        return f"it has {len(code):,} characters, {LONGEST_CODE:,} is the most."
    try:
        tree_of(code)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}."
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{error or 'it is nested too deep'}."
    return ""


def _leads(check: Checking, node: Node, port: str) -> bool:
    return any(edge.port == port for edge in check.graph.after[node.id])


def _input_of(workflow: Workflow) -> JsonSchema:
    return next((node.takes for node in workflow.nodes if isinstance(node, InputNode)), {})


def _names(schema: JsonSchema, word: str) -> set[str]:
    names = schema.get(word)
    return {name for name in names if isinstance(name, str)} if isinstance(names, list | dict) else set()
