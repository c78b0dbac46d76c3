"""Whether what a node's bindings read is there when it begins, and of the kind that is wanted."""

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from app.domain.prompts import ValuePath, unreadable
from app.domain.reading.expressions import BadExpression
from app.domain.tools import JsonSchema
from app.domain.values import Value
from app.domain.workflows.availability import Availability
from app.domain.workflows.bindings import Read, formula_reads, reads
from app.domain.workflows.document import (
    CARRY,
    GIVEN_NAMES,
    INPUT,
    LONGEST_ID,
    ROUND,
    Binding,
    FixedValue,
    InputNode,
    Node,
    Template,
    titled,
)
from app.domain.workflows.fitting import along, described, fit, types_of
from app.domain.workflows.giving import SCALAR, Giving, given_names
from app.domain.workflows.graph import Graph
from app.domain.workflows.world import World

MOST_FAULTS = 500
MOST_GUESSES = 20
"""What else may have been meant is looked for in the first faults: it takes a millisecond each."""
Severity = Literal["error", "warning", "info"]
"""No variant has an error; a warning is likely not meant; what an info says is checked when the value is there."""


class Fault(Value):
    node: str = ""
    """Its id; empty for the document."""
    field: str = ""
    """Of the node, `arguments.url` for one in another; empty for the node itself."""
    severity: Severity = "error"
    text: str
    """What is wrong, naming the node by title and id, and the way out."""


@dataclass
class Checking:
    """A check of a document, and what it has found so far."""

    graph: Graph
    world: World
    found: list[Fault] = field(default_factory=list)
    _counts: Counter[Severity] = field(default_factory=Counter)
    """Each bounded by itself: a warning is never told in place of an error."""

    def __post_init__(self) -> None:
        self.available = Availability(self.graph)
        self.giving = Giving(self.graph, self.world)
        self.has_input = any(isinstance(node, InputNode) for node in self.graph.nodes.values())

    def add(self, node: Node, where: str, words: str, severity: Severity = "error") -> None:
        """`words` go on after the node's name."""
        self._counts[severity] += 1
        if self._counts[severity] <= MOST_FAULTS:
            self.found.append(Fault(node=node.id, field=where, severity=severity, text=f"{titled(node)} {words}"))

    def binding(
        self, node: Node, where: str, value: Binding, *, wanted: JsonSchema | None = None, in_body: bool = False,
        may_miss: bool = False,
    ) -> None:  # fmt: skip
        """`in_body`: it is read at the end of each round of the node's body. `may_miss`: nulls are welcome."""
        inside = node.id if in_body else node.scope
        if isinstance(value, Template) and (written := unreadable(value.text)):
            self.add(
                node, where, f"has braces in “{where}” that name no value: {written} Write them as {{{{id.field}}}}."
            )
        try:
            found = reads(value, self.world.expressions)
        except BadExpression as error:
            self.add(node, where, f"has an expression in “{where}” that cannot be read. {error}")
            return
        sound = self._all_there(node, where, found, in_body=in_body, may_miss=may_miss)
        if wanted is not None and sound:
            self._fits(node, where, value, self.giving.bound(value, inside), wanted)

    def formula(self, node: Node, where: str, written: str, *, in_body: bool = False) -> None:
        try:
            found = formula_reads(written, self.world.expressions)
        except BadExpression as error:
            self.add(node, where, f"has a formula in “{where}” that cannot be read. {error}")
            return
        self._all_there(node, where, found, in_body=in_body, may_miss=False)

    def _all_there(
        self, node: Node, where: str, found: tuple[Read, ...], *, in_body: bool, may_miss: bool
    ) -> bool:  # fmt: skip
        count = len(self.found)
        for read in dict.fromkeys(found):
            self._read(node, where, read, in_body=in_body, may_miss=may_miss)
        return len(self.found) == count

    def _read(self, node: Node, where: str, read: Read, *, in_body: bool, may_miss: bool) -> None:
        name, inside = read.path.name, node.id if in_body else node.scope
        if name == INPUT or (name in GIVEN_NAMES and name not in self.graph.nodes):
            if name not in given_names(self.graph, inside):
                box = "loop" if name in (CARRY, ROUND) else "map"
                self.add(node, where, f"reads “{name}”, which there is only in the body of a {box}. {_ANOTHER}")
                return
            if name == INPUT and not self.has_input:
                return  # that there is none is said once, of the document
        elif words := self._out_of_sight(node, name, in_body=in_body):
            self.add(node, where, f"reads “{name}”, {words}")
            return
        elif not (read.has_default or may_miss) and not self._sure(node, name, in_body=in_body):
            way_out = f"Say what stands for it then: {read.path.written} ?? …"
            self.add(node, where, f"reads {titled(self.graph.nodes[name])}, which may have been skipped. {way_out}")
        self._path(node, where, read.path, inside, has_default=read.has_default)

    def _out_of_sight(self, node: Node, name: str, *, in_body: bool) -> str:
        """Why it cannot read the node of that id, with the way out; empty when it can."""
        if name not in self.graph.nodes:
            few = len(self.found) < MOST_GUESSES and len(name) <= LONGEST_ID
            near = difflib.get_close_matches(name, self.graph.nodes, n=1) if few else ()
            guess = f"Did you mean “{near[0]}”? " if near else ""
            return f"and there is no node with that id. {guess}{_ANOTHER}"
        other = self.graph.nodes[name]
        if self._seen(name, self._levels(node, in_body=in_body)):
            return ""
        if name == node.id or name in self.graph.chain(node.scope):
            return f"which has not ended by then. {_ANOTHER}"
        if box := next((one for one in self.graph.chain(other.scope) if one not in self.graph.chain(node.scope)), ""):
            return f"which stands in the body of {titled(self.graph.nodes[box])}. Read what that gives: {box}"
        return f"but {titled(other)} does not come before it. Connect the two, or read something before it."

    def _levels(self, node: Node, *, in_body: bool) -> Iterator[tuple[int, int]]:
        """The nodes it may read, and those of them that are surely there; its own scope first."""
        available = self.available
        if in_body:
            yield available.body(node.id), available.sure_in(node.id)
        for id_ in (node.id, *self.graph.chain(node.scope)):
            yield available.before(id_), available.sure(id_)

    def _seen(self, name: str, levels: Iterator[tuple[int, int]]) -> bool:
        return any(self.available.holds(before, name) for before, _ in levels)

    def _sure(self, node: Node, name: str, *, in_body: bool) -> bool:
        return any(self.available.holds(sure, name) for _, sure in self._levels(node, in_body=in_body))

    def _path(self, node: Node, where: str, path: ValuePath, inside: str, *, has_default: bool) -> None:
        """Whether something can stand at the path."""
        schema = self.giving.named(path.name, inside)
        for number, step in enumerate(path.steps):
            inner, known = along(schema, (step,)), schema.get("properties")
            if inner is None and not has_default:
                self.add(
                    node,
                    where,
                    f"reads “{path.written}”, but {_up_to(path, number)} is {described(schema)}. {_has(known)}",
                )
                return
            if not inner and isinstance(known, dict) and known and step not in known:
                words = f"reads “{path.written}”, of which {_up_to(path, number)} says nothing. {_has(known)}"
                self.add(node, where, words, "warning")
            schema = inner or {}

    def _fits(self, node: Node, where: str, value: Binding, given: JsonSchema, wanted: JsonSchema) -> None:
        fits = fit(given, wanted)
        if fits == "fits":
            return
        words = f"is given {described(given)} for “{where}”, where {described(wanted)} is wanted."
        if fits == "cannot":
            what = "Change the value." if isinstance(value, FixedValue) else "Read another value, or change its kind."
            self.add(node, where, f"{words} {what}")
        elif types_of(given) and given is not SCALAR and not types_of(given) <= types_of(wanted):
            self.add(node, where, f"{words} That is looked at when the value is there.", "info")


def _up_to(path: ValuePath, steps: int) -> str:
    return path._replace(steps=path.steps[:steps]).written


def _has(properties: JsonValue) -> str:
    has = isinstance(properties, dict) and ", ".join(list(properties)[:10])
    return f"It has: {has}." if has else _ANOTHER


_ANOTHER = "Read another value."
