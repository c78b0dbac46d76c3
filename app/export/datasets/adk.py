"""An evalset of Google's ADK, or its older list of queries, in snake and in camel case.

https://google.github.io/adk-docs/evaluate/
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from app.domain.evals.cases import Case, ExpectedCall
from app.domain.evals.scorers import Trajectory
from app.domain.events import Entry, ToolCalled, ToolReturned
from app.domain.messages import TextPart, ToolResult
from app.export.datasets.chat import variables_of
from app.export.datasets.received import Draft, Fields, Received, parsed, rows, table, words
from app.export.words import json_bytes

_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")
_THEN = datetime(1970, 1, 1, tzinfo=UTC)


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` with the case that cannot be read."""
    draft, told = Draft(judge), parsed(content, name)
    if isinstance(told, list):
        for number, query in enumerate(told, start=1):
            _take_query(draft, query, f"{name}, query {number}")
    else:
        with draft.left.reading(_snake(told, name), name, what="the evalset") as evalset:
            for number, case in enumerate(rows(evalset.pop("eval_cases", None), f"{name}, eval_cases"), start=1):
                _take_case(draft, case, f"{name}, case {number}")
    if any(case.content.expected_calls is not None for case in draft.cases):
        draft.score_by(Trajectory(relation="same_order", arguments="equal"))
    return draft.received()


def write_cases(cases: list[Case], *, name: str) -> bytes:
    """The cases as an evalset; what is expected stands with the last message of each."""
    told = {"eval_set_id": name, "name": name, "eval_cases": [_eval_case(case) for case in cases]}
    return json_bytes(told, indent=2)


def _take_case(draft: Draft, told: JsonValue, place: str) -> None:
    asked: list[str] = []
    answers: list[str] = []
    uses: list[Fields] | None = None
    results: list[Fields] = []
    with draft.left.reading(_snake(told, place), place, what="a case") as case:
        for invocation in rows(case.pop("conversation", None), place):
            with draft.left.reading(_snake(invocation, place), place, what="an invocation") as turn:
                asked.append(_text(draft, turn.pop("user_content", None), place))
                answers.append(_text(draft, turn.pop("final_response", None), place))
                if (between := turn.pop("intermediate_data", None)) is not None:
                    more, returned = _between(draft, between, place)
                    uses, results = [*(uses or []), *more], [*results, *returned]
        scenario: Fields = _user(draft, case.pop("conversation_scenario", None), place, asked)
        with draft.left.reading(
            _snake(case.pop("session_input", None) or {}, place), place, what="a session"
        ) as session:
            state = variables_of(table(session.pop("state", None) or {}, place), draft.left, what="values of a state")
        note = words(case.pop("eval_id", None))
    if earlier := sum(map(bool, answers[:-1])):
        draft.left.out("expected answers to other messages than the last one of a case", earlier)
    calls = None if uses is None else tuple(_call(use) for use in uses)
    fields: dict[str, object] = {
        "input": asked[0] if asked else "",
        "turns": tuple(asked[1:]),
        "reference": (answers[-1] if answers else "") or None,
        "expected_calls": calls,
        "variables": state,
        "note": note,
    }
    draft.add(place, fields | scenario, record=list(_record(uses or [], results)))


def _take_query(draft: Draft, told: JsonValue, place: str) -> None:
    """The older form: a query, the calls that are expected, and the answer."""
    with draft.left.reading(_snake(told, place), place, what="a query") as query:
        uses = None
        if (wanted := query.pop("expected_tool_use", None)) is not None:
            uses = [_use(draft, use, place) for use in rows(wanted, place)]
        reference = words(query.pop("reference", None)) or None
        calls = None if uses is None else tuple(_call(use) for use in uses)
        fields: dict[str, object] = {
            "input": words(query.pop("query", None)),
            "reference": reference,
            "expected_calls": calls,
        }
    draft.add(place, fields)


def _between(draft: Draft, told: JsonValue, place: str) -> tuple[list[Fields], list[Fields]]:
    """The calls of tools before the answer, and what they returned."""
    uses: list[Fields] = []
    returned: list[Fields] = []
    with draft.left.reading(_snake(told, place), place, what="intermediate data") as between:
        uses += [_use(draft, use, place) for use in rows(between.pop("tool_uses", None), place)]
        returned += [_returned(draft, one, place) for one in rows(between.pop("tool_responses", None), place)]
        for event in rows(between.pop("invocation_events", None), place):
            for part in _parts(draft, event, place):
                if (call := part.pop("function_call", None)) is not None:
                    uses.append(_use(draft, call, place))
                if (response := part.pop("function_response", None)) is not None:
                    returned.append(_returned(draft, response, place))
    return uses, returned


def _parts(draft: Draft, event: JsonValue, place: str) -> Iterator[Fields]:
    with draft.left.reading(_snake(event, place), place, what="an event") as fields:
        content = fields.pop("content", None) or {}
    with draft.left.reading(_snake(content, place), place, what="a content") as found:
        found.pop("role", None)
        for part in rows(found.pop("parts", None), place):
            with draft.left.reading(_snake(part, place), place, what="a part") as told:
                yield told


def _use(draft: Draft, told: JsonValue, place: str) -> Fields:
    with draft.left.reading(_snake(told, place), place, what="a use of a tool") as use:
        name = words(use.pop("name", None) or use.pop("tool_name", None))
        arguments = use.pop("args", None) or use.pop("tool_input", None)
        return {"id": words(use.pop("id", None)), "name": name, "args": table(arguments or {}, place)}


def _returned(draft: Draft, told: JsonValue, place: str) -> Fields:
    with draft.left.reading(_snake(told, place), place, what="a response of a tool") as found:
        return {one: found.pop(one, None) for one in ("id", "name", "response")}


def _call(use: Fields) -> ExpectedCall:
    return ExpectedCall.model_validate({"name": use["name"], "arguments": use["args"]})


def _record(uses: Sequence[Fields], results: Sequence[Fields]) -> Iterator[Entry]:
    """What the tools answered, each to the call of its id, or else to the next one of its name."""
    waiting: defaultdict[str, deque[Fields]] = defaultdict(deque)
    for one in results:
        waiting[f"id {one['id']}" if one["id"] else f"name {one['name']}"].append(one)
    places = iter(range(2 * len(uses)))
    for number, use in enumerate(uses, start=1):
        fitting = waiting.get(f"id {use['id']}") or waiting.get(f"name {use['name']}")
        if not fitting:
            continue
        call_id, name = f"adk_{number}", words(use["name"])
        result = ToolResult(call_id=call_id, name=name, parts=(TextPart(text=words(fitting.popleft()["response"])),))
        for event in (
            ToolCalled(call_id=call_id, name=name, arguments=table(use["args"], "")),
            ToolReturned(call_id=call_id, result=result, ms=0),
        ):
            yield Entry(run_id="adk", seq=next(places), at=_THEN, event=event)


def _user(draft: Draft, told: JsonValue, place: str, asked: list[str]) -> Fields:
    """A simulated user in place of further messages, where there is a model that can speak for them."""
    if told is None:
        return {}
    with draft.left.reading(_snake(told, place), place, what="a scenario") as scenario:
        asked[:] = [words(scenario.pop("starting_prompt", None)), *asked]
        goal = words(scenario.pop("conversation_plan", None))
        if draft.judge and len(asked) == 1:
            return {"user": {"goal": goal, "model": draft.judge}}
    draft.left.out("simulated users, as no model is chosen that could speak for them")
    return {}


def _text(draft: Draft, told: JsonValue, place: str) -> str:
    return "\n".join(words(part.pop("text")) for part in _parts(draft, {"content": told}, place) if part.get("text"))


def _eval_case(case: Case) -> Fields:
    messages = (case.input, *case.turns)
    conversation: list[JsonValue] = [
        {"invocation_id": f"{case.id}-{number}", "user_content": _content("user", text)}
        for number, text in enumerate(messages, start=1)
    ]
    last = table(conversation[-1], "")
    if case.reference is not None:
        last["final_response"] = _content("model", words(case.reference))
    if case.expected_calls is not None:
        uses: list[JsonValue] = [{"name": call.name, "args": call.arguments or {}} for call in case.expected_calls]
        last["intermediate_data"] = {"tool_uses": uses, "intermediate_responses": []}
    state: Fields = {**case.variables}
    return {
        "eval_id": case.id,
        "conversation": conversation,
        "session_input": {"app_name": "app", "user_id": "user", "state": state},
    }


def _content(role: str, text: str) -> Fields:
    return {"role": role, "parts": [{"text": text}]}


def _snake(told: JsonValue, place: str) -> Fields:
    """The object with its own names in snake case; what is within stays as it is."""
    return {_HUMP.sub(lambda found: f"_{found[0].lower()}", name): value for name, value in table(told, place).items()}
