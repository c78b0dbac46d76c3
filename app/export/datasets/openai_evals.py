"""JSON Lines of OpenAI evals: `{"input": messages, "ideal": text or texts}`, also within `item` as hosted ones export.

https://github.com/openai/evals/blob/main/docs/build-eval.md
"""

from app.domain.evals.cases import Case
from app.domain.evals.scorers import Contains
from app.domain.messages import user_message
from app.export.datasets.chat import asked_in, input_name, listed, said, variables_of
from app.export.datasets.received import Draft, Fields, Received, lines_of, table, words
from app.export.words import json_bytes

_IDEALS = ("ideal", "expected", "answer", "target", "reference", "ground_truth")


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` with the line that cannot be read."""
    draft = Draft(judge)
    for place, told in lines_of(content, name):
        with draft.left.reading(told, place, what="a sample") as sample:
            if "item" in sample:
                _take(draft, dict(table(sample.pop("item"), place)), place)
            else:
                own: Fields = {one: sample.pop(one) for one in ("input", "ideal") if one in sample}
                _take(draft, own, place)
    if any(case.content.reference is not None for case in draft.cases):
        draft.score_by(Contains())
        draft.note("How answers were graded is not in this file: here they are to contain what is expected.")
    return draft.received()


def write_cases(cases: list[Case]) -> bytes:
    lines = []
    for case in cases:
        asked = [*map(said, case.history), *(said(user_message(text)) for text in (case.input, *case.turns))]
        ideal: Fields = {} if case.reference is None else {"ideal": words(case.reference)}
        lines.append(json_bytes({"input": asked, **ideal}) + b"\n")
    return b"".join(lines)


def _take(draft: Draft, fields: Fields, place: str) -> None:
    expected = next((one for one in _IDEALS if one in fields), "")
    ideals = listed(fields.pop(expected), place) if expected else []
    chosen = input_name(list(fields))
    asked = asked_in(fields.pop(chosen, None), place, draft.left)
    variables = variables_of(fields, draft.left, what="values of an item")
    several = (Contains(name="ideal", texts=tuple(ideals), mode="any"),) if len(ideals) > 1 else ()
    draft.add(
        place,
        {
            **asked._asdict(),
            "variables": variables,
            "reference": ideals[0] if len(ideals) == 1 else None,
            "checks": several,
        },
    )
