"""A configuration of promptfoo, or its list of tests, as YAML or JSON: its tests become cases, its code is never run.

https://www.promptfoo.dev/docs/configuration/reference/
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from app.domain.errors import TooLarge
from app.domain.evals.cases import Case
from app.domain.evals.scorers import Check, Contains, Cost, JsonMatch, Latency, Regex
from app.export.datasets.assertions import JSON_AT_ALL, Wanted, take
from app.export.datasets.chat import input_name
from app.export.datasets.core_yaml import read_yaml, written_yaml
from app.export.datasets.received import MOST_CHECKS, Draft, Fields, Received, rows, table, words
from app.export.words import one_line

_PLAIN = re.compile(r"\{\{-?\s*([A-Za-z_]\w{0,60})\s*-?\}\}")
_TEMPLATE = re.compile(r"\{[{%#]")
_FILE = "file://"


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` with the line or the test that cannot be read."""
    draft, told = Draft(judge), read_yaml(content, name)
    with draft.left.reading(told if isinstance(told, dict) else {"tests": told}, name, what="the file") as config:
        shared = _default(config.pop("defaultTest", None), f"{name}, defaultTest", draft)
        prompt = _prompt(config.pop("prompts", None), draft)
        if description := words(config.pop("description", None)):
            draft.note(f"It describes itself as: {one_line(description)}")
        for number, test in enumerate(_tests(config.pop("tests", None), name, draft), start=1):
            _take(draft, prompt, shared, _test(test, f"{name}, test {number}", "a test", draft))
    return draft.received()


def write_cases(cases: list[Case]) -> bytes:
    """The cases as a list of tests, whose message is the variable `input`."""
    tests = [
        {"vars": {**case.variables, "input": case.input}}
        | ({"description": case.note} if case.note else {})
        | ({"assert": asserts} if (asserts := list(_assertions(case))) else {})
        for case in cases
    ]
    return written_yaml({"prompts": ["{{input}}"], "tests": tests})


class _Test(NamedTuple):
    place: str
    variables: Fields
    asserted: list[JsonValue]
    note: str = ""


def _test(told: JsonValue, place: str, what: str, draft: Draft) -> _Test:
    with draft.left.reading(told, place, what=what) as test:
        variables, asserted = table(test.pop("vars", None) or {}, place), rows(test.pop("assert", None), place)
        return _Test(place, variables, asserted, words(test.pop("description", None)))


def _default(told: JsonValue, place: str, draft: Draft) -> _Test:
    """What holds for all tests."""
    if isinstance(told, str):
        draft.left.out("a default test in another file, as none is opened")
        told = None
    return _test(told or {}, place, "the default test", draft)


def _take(draft: Draft, prompt: str, shared: _Test, test: _Test) -> None:
    given, note = {**shared.variables, **test.variables}, test.note or shared.note
    place, asserted = test.place, [*shared.asserted, *test.asserted]
    if len(asserted) > MOST_CHECKS:
        raise TooLarge(f"{place}: a case asks at most {MOST_CHECKS} things; these are {len(asserted):,}.")
    for values in _combined(given, draft, place):
        wanted = Wanted()
        for one in asserted:
            if (assertion := _filled_in(one, values)) is None:
                draft.left.out("assertions with more of nunjucks in them than the names of variables")
            else:
                take(assertion, wanted, draft, place)
        message = _filled(prompt, values) if prompt else values.get(input_name(list(values)), "")
        if message is None or _TEMPLATE.search(message):
            draft.left.out("tests whose message takes more of nunjucks, or other variables, than they have")
            continue
        draft.add(place, {"input": message, "variables": values, "note": note, **wanted.fields(draft)})


def _tests(told: JsonValue, name: str, draft: Draft) -> Iterator[JsonValue]:
    for test in rows([told] if isinstance(told, str | dict) else told, f"{name}, tests"):
        if isinstance(test, str) or (isinstance(test, dict) and "path" in test):
            draft.left.out("tests in other files, as none is opened")
        else:
            yield test


def _prompt(told: JsonValue, draft: Draft) -> str:
    """The template of the message; empty where it is a variable alone, or nobody can tell."""
    prompts = told if isinstance(told, list) else [told] if told else []
    texts = [one for one in prompts if isinstance(one, str) and not one.startswith(_FILE) and not _is_chat(one)]
    if others := len(prompts) - len(texts[:1]):
        draft.left.out("prompts: the message of a case is the first that is a text, or else a variable", others)
    return texts[0] if texts else ""


def _is_chat(prompt: str) -> bool:
    return prompt.lstrip().startswith(("[", "- role"))


def _combined(given: Fields, draft: Draft, place: str) -> Iterator[dict[str, str]]:
    """The variables as texts, once for each combination of those that are lists."""
    known: dict[str, list[str]] = {}
    for name, value in given.items():
        values = [words(one) for one in (value if isinstance(value, list) else [value])]
        if any(text.startswith(_FILE) or _TEMPLATE.search(text) for text in values):
            draft.left.out("variables from files or templates, as no file is opened and no template run")
        elif values:
            known[name] = values
    draft.expect(place, math.prod(map(len, known.values())))
    for chosen in itertools.product(*known.values()):
        yield dict(zip(known, chosen, strict=True))


def _filled(template: str, values: Mapping[str, str]) -> str | None:
    """The template with the variables in it; `None` where there is more in it than their names."""
    if any(name not in values for name in _PLAIN.findall(template)) or _TEMPLATE.search(_PLAIN.sub("", template)):
        return None
    return _PLAIN.sub(lambda found: values[found[1]], template)


def _filled_in(told: JsonValue, values: Mapping[str, str]) -> JsonValue:
    """An assertion with the variables in it; `None` where there is more in it."""
    if not isinstance(told, dict) or "value" not in told:
        return told
    value = told["value"]
    filled = [
        _filled(one, values) if isinstance(one, str) else one for one in (value if isinstance(value, list) else [value])
    ]
    if any(one is None for one in filled) and value is not None:
        return None
    return {**told, "value": filled if isinstance(value, list) else filled[0]}


def _assertions(case: Case) -> Iterator[Fields]:
    """What is expected, where no check says it better, and the checks that promptfoo has too."""
    if case.reference is not None and (
        not case.checks or any(check.type in ("exact", "json") for check in case.checks)
    ):
        yield {"type": "equals", "value": case.reference}
    wanted = _texts(case.reference)
    yield from filter(None, (_assertion(check, wanted) for check in case.checks))


def _texts(reference: JsonValue) -> list[str]:
    """What checks look for that name nothing themselves."""
    several = reference if isinstance(reference, list) else [reference]
    return [words(one) for one in several] if all(isinstance(one, str | int | float) for one in several) else []


def _assertion(check: Check, wanted: list[str]) -> Fields:
    match check:
        case Contains(texts=texts, mode=mode, ignore_case=ignore_case) if texts or wanted:
            kind = f"{'i' if ignore_case else ''}contains{'-all' if mode == 'all' else '-any'}"
            kind = f"not-{kind}" if mode == "none" else kind
            return {"type": kind, "value": list(texts) or [*wanted], "metric": check.name}
        case Regex(pattern=pattern, whole=whole) if found := pattern or "".join(wanted if len(wanted) == 1 else ()):
            return {"type": "regex", "value": f"^(?:{found})$" if whole else found, "metric": check.name}
        case Latency(most_seconds=seconds):
            return {"type": "latency", "threshold": seconds * 1000, "metric": check.name}
        case Cost(most_usd=most):
            return {"type": "cost", "threshold": most, "metric": check.name}
        case JsonMatch(expected=expected) if JSON_AT_ALL in expected:
            return {"type": "is-json", "metric": check.name}
        case _:
            return {}
