"""Whether an answer is the JSON that its agent's output schema asks for; a schema may come out of an imported file."""

from itertools import islice

import orjson
from pydantic import JsonValue

from app.domain.json_schema import Mistake, UnusableSchema, mistakes, schema_mistake
from app.domain.reading.answers import unfenced
from app.domain.tools import JsonSchema

_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 300
_MOST_REFERENCES = 2_000


def check_output(schema: JsonSchema, text: str) -> tuple[str, ...]:
    """What is wrong with the answer, a sentence for each problem (20 at most); empty when it fits the schema.

    A Markdown fence around the JSON is read over, as many models write one.
    """
    try:
        answer = _parsed(text)
    except ValueError as error:
        return (f"The answer is not JSON: {error}.",)
    if problem := schema_problem(schema):
        return (f"The output schema cannot be used: {problem} Change it in the agent's editor.",)
    found = mistakes(schema, answer, most_references=_MOST_REFERENCES, unknown_patterns_fit=True)
    try:
        return tuple(_sentence(mistake) for mistake in islice(found, _MOST_PROBLEMS))
    except UnusableSchema as error:
        return (f"The output schema {error}. Change it in the agent's editor.",)


def schema_problem(schema: JsonSchema) -> str:
    """What is wrong with the schema itself, empty when nothing is."""
    mistake = schema_mistake(schema)
    return _sentence(mistake) if mistake else ""


def _parsed(text: str) -> JsonValue:
    """The JSON in an answer; raises `ValueError` where there is none."""
    value: JsonValue = orjson.loads(unfenced(text))
    return value


def _sentence(mistake: Mistake) -> str:
    place = "".join(f"/{step}" for step in mistake.path)
    sentence = f"{place}: {mistake.message}" if place else mistake.message
    return sentence if len(sentence) <= _LONGEST_PROBLEM else sentence[: _LONGEST_PROBLEM - 1] + "…"
