"""A workflow that does what a run did: its tool calls are nodes, and its answer is one of its agent.

Calls of one step stand side by side. An argument that is equal to the message, to what an earlier call gave or to a
part of that reads it; any other stays as it was. What no node can do shows as a fault, or is named in the note.
"""

import json
import re
from collections.abc import Sequence
from math import isfinite, nan

from pydantic import JsonValue

from app.domain.events import Entry, RunStarted
from app.domain.provenance import AgentRef
from app.domain.tools import FIND_TOOLS
from app.domain.trace.calls import CallView
from app.domain.trace.nodes import value_of
from app.domain.trace.trajectory import TrajectoryStep, trajectory
from app.domain.workflows.document import (
    LARGEST,
    LONGEST_TITLE,
    AgentNode,
    Binding,
    Edge,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    Node,
    NoteNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
)
from app.domain.workflows.layout import GAP_X, GAP_Y, HEIGHT, WIDTH, tidied
from app.domain.workflows.operations import free_id

MOST_CALLS = 200
MOST_KNOWN = 5_000
"""Values, and parts of values, that arguments are compared with."""
DEEPEST = 6
SHORTEST = 3
"""Characters of a text that is compared; shorter ones, and numbers of one digit, are equal by chance."""
_PLAIN = re.compile(r"[A-Za-z_]\w{0,60}", re.ASCII)
_NUMBER = 'float(inputs["text"].rpartition("=")[2])'
_SPAWN, _JOIN = "spawn_task", "join_task"

BLANK = Workflow(
    nodes=(
        InputNode(id="input", title="Message"),
        OutputNode(id="answer", title="Answer", x=WIDTH + GAP_X, value=Template(text="{{input.text}}")),
    ),
    edges=(Edge(source="input", target="answer"),),
)
"""What answers with the message: where one begins who has nothing yet."""


def workflow_of(entries: Sequence[Entry]) -> Workflow:
    """What is missing or wrong in it, the checker tells. Of a workflow's run it is the workflow that ran."""
    started = next((one.event for one in entries if isinstance(one.event, RunStarted)), None)
    if started is not None and started.workflow is not None:
        return started.workflow
    making = _Making(started)
    steps = trajectory(entries)
    for step in steps:
        making.take(step)
    last = steps[-1] if steps else None
    answer = last.decision.text.strip() if last and not last.calls else ""
    return making.finished(answer)


class _Making:
    def __init__(self, started: RunStarted | None) -> None:
        self._agent = started.agent if started else None
        self._policies = {tool.spec.name: tool.policy for tool in started.tools} if started else {}
        self._ids = {"input"}
        self._nodes: list[Node] = [InputNode(id="input", title="Message")]
        self._edges: list[Edge] = []
        self._ends = ["input"]
        """What the next nodes come after."""
        self._known: dict[str, str] = {}
        """Where a value stands, by its JSON; the nearest place."""
        self._sums: dict[str, Node] = {}
        """The nodes whose text ends with `= 15`, by that number as JSON."""
        self._readers: list[Node] = []
        """What takes such numbers out of their texts, for the nodes that come next."""
        self._tasks: dict[str, str] = {}
        """The nodes that stand for tasks, by the runs that did them."""
        self._left: dict[str, int] = {}
        """Why calls were left out, and how many."""

    def take(self, step: TrajectoryStep) -> None:
        """The calls of one more step."""
        if len(self._nodes) == 1:
            said = next((one.text for one in step.observed if one.text.strip()), "")
            self._learn(said, "input.text")
        made = [(call, node) for call in step.calls if (node := self._node(call)) is not None]
        self._put(self._readers)
        self._readers = []
        self._put([node for _, node in made])
        for call, node in made:
            if call.result is not None and isinstance(node, ToolNode) and len(call.result.text) <= LARGEST:
                self._learn(value_of(call.result), node.id)
                self._learn_sum(call.result.text, node)
        for call in step.calls:
            if call.name == _JOIN and call.result is not None and call.task_run in self._tasks:
                match value_of(call.result):
                    case {"answer": answer}:
                        self._learn(answer, self._tasks[call.task_run])

    def finished(self, answer: str) -> Workflow:
        """With what the run answered: as it stands in what was found, or as its agent says it of that."""
        path = self._known.get(_key(answer)) if _telling(answer) else None
        if answer and path is None and self._agent is not None:
            node = self._answering(self._agent)
            self._put([node])
            path = node.id
        value = FoundValue(path=path) if path else Template()
        self._put([OutputNode(id=self._id("Answer"), title="Answer", value=value)])
        document = tidied(Workflow(nodes=tuple(self._nodes), edges=tuple(self._edges)))
        return document.model_copy(update={"nodes": (*document.nodes, self._note(document))})

    def _answering(self, agent: AgentRef) -> AgentNode:
        ids = [node.id for node in self._nodes if isinstance(node, ToolNode | AgentNode)]
        notes = "".join(f"- {id_}: {{{{{id_}}}}}\n" for id_ in ids)
        told = f"Answer the request from these notes, with what they found out:\n{notes}\nRequest: " if ids else ""
        title, message = agent.name[:LONGEST_TITLE], Template(text=told + "{{input.text}}")
        return AgentNode(id=self._id(title), title=title, agent=agent.slug, message=message, tools=())

    def _note(self, document: Workflow) -> NoteNode:
        words = "Made from a run. What was equal to something known before reads that; the rest stands as it was."
        if self._left:
            words += f" Left out: {', '.join(f'{why} ({count})' for why, count in self._left.items())}."
        y = min(node.y for node in document.nodes) - HEIGHT - GAP_Y
        return NoteNode(id=self._id("About"), title="From a run", note=words, y=y)

    def _node(self, call: CallView) -> Node | None:
        if call.name in (FIND_TOOLS, _JOIN):
            return None
        if call.result is None or call.result.failed or len(self._nodes) > MOST_CALLS:
            why = "was not answered" if call.result is None else "failed" if call.result.failed else "was one too many"
            called = f"{call.name[:60]} {why}"
            self._left[called] = self._left.get(called, 0) + 1
            return None
        title = call.name.rpartition("__")[2].replace("_", " ").strip().capitalize()[:LONGEST_TITLE]
        bound = {name: self._bound(value) for name, value in call.arguments.items()}
        if call.name != _SPAWN:
            policy = self._policies.get(call.name, "ask")
            return ToolNode(id=self._id(title), title=title, tool=call.name, arguments=bound, policy=policy)
        agent = str(call.arguments.get("agent") or "") or (self._agent.slug if self._agent else "")
        node = AgentNode(id=self._id("Task"), title="Task", agent=agent, message=bound.get("task", Template()))
        self._tasks[call.task_run] = node.id
        return node

    def _put(self, nodes: list[Node]) -> None:
        """After all that was put before; between several and several stands a join."""
        if len(nodes) > 1 and len(self._ends) > 1:
            self._put([JoinNode(id=self._id("All of it"), title="All of it")])
        self._nodes += nodes
        self._edges += [Edge(source=end, target=node.id) for node in nodes for end in self._ends]
        self._ends = [node.id for node in nodes] or self._ends

    def _id(self, title: str) -> str:
        id_ = free_id(title, self._ids)
        self._ids.add(id_)
        return id_

    def _bound(self, value: JsonValue) -> Binding:
        path = self._known.get(_key(value)) if _telling(value) else None
        if path is None and _telling(value) and (giving := self._sums.get(_key(value))) is not None:
            path = self._reader(giving)
            self._known[_key(value)] = path
        return FoundValue(path=path) if path else FixedValue(value=value)

    def _reader(self, giving: Node) -> str:
        title = f"Number of {giving.title}"[:LONGEST_TITLE]
        inputs: dict[str, Binding] = {"text": FoundValue(path=giving.id)}
        reader = TransformNode(id=self._id(title), title=title, language="python", code=_NUMBER, inputs=inputs)
        self._readers.append(reader)
        return reader.id

    def _learn_sum(self, text: str, node: Node) -> None:
        _, sign, number = text.rpartition("=")
        try:
            value = float(number) if sign else nan
        except ValueError:
            return
        if isfinite(value):
            self._known.pop(key := _key(int(value) if value.is_integer() else value), None)
            self._sums[key] = node

    def _learn(self, value: JsonValue, path: str, depth: int = 0) -> None:
        if len(self._known) >= MOST_KNOWN or depth > DEEPEST:
            return
        if _telling(value) and (key := _key(value)):
            self._known[key] = path
        match value:
            case dict():
                for name, inner in value.items():
                    step = name if _PLAIN.fullmatch(name) else json.dumps(name)
                    self._learn(inner, f"{path}.{step}", depth + 1)
            case list():
                for place, inner in enumerate(value):
                    self._learn(inner, f"{path}[{place}]", depth + 1)
            case _:
                pass


def _telling(value: JsonValue) -> bool:
    """Whether it is likely to be equal to another for a reason."""
    match value:
        case None:
            return False
        case int() | float():
            return value not in range(-9, 10)
        case str():
            return len(value.strip()) >= SHORTEST
        case _:
            return bool(value)


def _key(value: JsonValue) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return ""
