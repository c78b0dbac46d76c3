"""Whether a document is what a JSON Schema asks for."""

from itertools import islice

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.json_schema import Mistake, UnusableSchema, mistakes, schema_mistake
from app.domain.tools import JsonSchema
from app.tools.builtin.json_utils.places import written

MOST_PROBLEMS = 50
MOST_REFERENCES = 100_000


def problems(schema: JsonSchema, document: JsonValue) -> list[JsonValue]:
    """What is wrong with the document: where, what, and the word of the schema that says so; the first 50.

    Raises `ToolError` when the schema itself is wrong.
    """
    if wrong := schema_mistake(schema):
        raise ToolError(f"The schema is wrong at {written(wrong.path)}: {wrong.message}.")
    found = mistakes(schema, document, most_references=MOST_REFERENCES)
    try:
        return [_told(mistake) for mistake in islice(found, MOST_PROBLEMS)]
    except UnusableSchema as error:
        raise ToolError(f"The schema {error}.") from error


def _told(mistake: Mistake) -> JsonValue:
    return {"path": written(mistake.path), "problem": mistake.message, "rule": mistake.word}
