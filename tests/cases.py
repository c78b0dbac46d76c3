"""Cases and what came of them, for tests of evals."""

from collections.abc import Sequence

from pydantic import JsonValue

from app.domain.evals.cases import Case, ExpectedCall
from app.domain.evals.evidence import Evidence
from app.domain.events import Event
from app.domain.messages import ToolCall
from tests.traces import BEGAN, asked, called, finished, ran, returned, said, started, trace_of


def case(question: str = "What is 5 + 10?", **fields: object) -> Case:
    known = {"id": "case1", "dataset_id": "d1", "input": question, "created_at": BEGAN, "updated_at": BEGAN}
    return Case.model_validate(known | fields)


def answered(answer: str, reference: JsonValue = None, *, run_id: str = "r1", **fields: object) -> Evidence:
    """A run of one step that said that."""
    tried = case(reference=reference, **fields)
    events = (started(), asked(tried.input), called(), said(answer), returned(), finished())
    return Evidence(tried, (trace_of(*events, run_id=run_id),))


def acted(
    *made: tuple[str, dict[str, JsonValue]] | tuple[str, dict[str, JsonValue], str],
    expected: Sequence[ExpectedCall | str] | None = (),
    answer: str = "Done.",
    **fields: object,
) -> Evidence:
    """A run that made those calls, one a step: name, arguments, and the status where that is not `ok`."""
    wanted = None if expected is None else [one if isinstance(one, ExpectedCall) else wants(one) for one in expected]
    tried = case(expected_calls=wanted, **fields)
    events: list[Event] = [started(), asked(tried.input)]
    for number, (name, arguments, *status) in enumerate(made, start=1):
        call = ToolCall(call_id=f"c{number}", name=name, arguments=arguments)
        events += [called(f"m{number}"), said("", call), returned(f"m{number}")]
        events += ran(call, "…", status=status[0] if status else "ok")
    events += [called("last"), said(answer), returned("last"), finished()]
    return Evidence(tried, (trace_of(*events),))


def wants(name: str, arguments: dict[str, JsonValue] | None = None) -> ExpectedCall:
    return ExpectedCall(name=name, arguments=arguments)
