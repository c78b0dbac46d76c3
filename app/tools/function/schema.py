"""JSON Schema as a model gets it: without references where they can be written out, and without titles."""

from pydantic import JsonValue
from pydantic.json_schema import GenerateJsonSchema

from app.domain.tools import JsonSchema

DEFINITION = "#/$defs/"
NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "dependentSchemas")
PLAIN_VALUES = ("default", "const", "enum", "examples", "required")


class QuietSchema(GenerateJsonSchema):
    """Leaves out a default that JSON cannot say, without a warning."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}


def tidy(schema: JsonSchema) -> JsonSchema:
    """The same schema with references written out and titles removed.

    What refers to itself, a tree for example, keeps its definition under `$defs`.
    """
    definitions = schema.get("$defs")
    inlining = _Inlining(definitions if isinstance(definitions, dict) else {})
    written = inlining.schema({key: value for key, value in schema.items() if key != "$defs"}, ())
    if inlining.recursive:
        written["$defs"] = inlining.kept()
    return written


def expectation(schema: JsonValue) -> str:
    """What a value has to be, in a few words."""
    match schema:
        case {"enum": list(choices)}:
            return "one of " + ", ".join(repr(choice) for choice in choices)
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " or ".join(expectation(choice) for choice in choices)
        case {"type": "array", "items": dict(items)}:
            return f"array of {expectation(items)}"
        case {"const": value}:
            return repr(value)
        case {"type": str(name)}:
            return name
        case _:
            return "any value"


class _Inlining:
    def __init__(self, definitions: dict[str, JsonValue]) -> None:
        self._definitions = definitions
        self.recursive: list[str] = []

    def kept(self) -> dict[str, JsonValue]:
        """The definitions that refer to themselves; writing one out may find more of them."""
        kept: dict[str, JsonValue] = {}
        while missing := [name for name in self.recursive if name not in kept]:
            kept[missing[0]] = self._walk(self._definitions[missing[0]], (missing[0],))
        return kept

    def schema(self, schema: JsonSchema, inside: tuple[str, ...]) -> JsonSchema:
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(DEFINITION):
            return self._referred(reference.removeprefix(DEFINITION), schema, inside)
        return {key: self._value(key, value, inside) for key, value in schema.items() if key != "title"}

    def _value(self, key: str, value: JsonValue, inside: tuple[str, ...]) -> JsonValue:
        if key in PLAIN_VALUES:
            return value
        if key in NAMED_SCHEMAS and isinstance(value, dict):
            return {name: self._walk(schema, inside) for name, schema in value.items()}
        return self._walk(value, inside)

    def _referred(self, name: str, schema: JsonSchema, inside: tuple[str, ...]) -> JsonSchema:
        beside = {key: value for key, value in schema.items() if key not in ("$ref", "title")}
        definition = self._definitions.get(name)
        if name in inside or name in self.recursive or not isinstance(definition, dict):
            if name not in self.recursive:
                self.recursive.append(name)
            return {"$ref": DEFINITION + name, **beside}
        written = self.schema(definition, (*inside, name))
        if name in self.recursive:
            return {"$ref": DEFINITION + name, **beside}
        return {**written, **beside}

    def _walk(self, value: JsonValue, inside: tuple[str, ...]) -> JsonValue:
        if isinstance(value, dict):
            return self.schema(value, inside)
        if isinstance(value, list):
            return [self._walk(item, inside) for item in value]
        return value
