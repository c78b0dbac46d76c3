"""The fields of a form as arguments: their JSON Schema, and the check of what a model sent for them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from app.domain.errors import InvalidArguments
from app.domain.tool_settings import FieldType, HttpField, HttpTool
from app.domain.tools import JsonSchema
from app.tools.function.arguments import complaint, shown

FieldValue = str | int | float | bool

_FINITE = Annotated[float, Field(allow_inf_nan=False)]
_ADAPTERS: Mapping[FieldType, TypeAdapter[FieldValue]] = {
    "string": TypeAdapter(str, config=ConfigDict(coerce_numbers_to_str=True)),
    "number": TypeAdapter(int | _FINITE),
    "integer": TypeAdapter(int),
    "boolean": TypeAdapter(bool),
}


def parameters(form: HttpTool) -> JsonSchema:
    """JSON Schema of the arguments."""
    properties: JsonSchema = {field.name: _property(field) for field in form.fields}
    required: list[JsonValue] = [field.name for field in form.fields if field.required]
    schema: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def checked_arguments(form: HttpTool, arguments: Mapping[str, JsonValue]) -> dict[str, FieldValue]:
    """The arguments in the types of the form; an optional one that is null is left out.

    Raises `InvalidArguments`, which names each one that is wrong, missing or unknown.
    """
    names = ", ".join(field.name for field in form.fields) or "no arguments"
    known = {field.name for field in form.fields}
    lines = [f"{name}: unknown, {form.name} takes {names}" for name in arguments if name not in known]
    filled: dict[str, FieldValue] = {}
    for field in form.fields:
        given = arguments.get(field.name)
        if given is None and not (field.required and field.name in arguments):
            lines += [f"{field.name}: missing, expected {field.type}"] if field.required else []
            continue
        try:
            filled[field.name] = _ADAPTERS[field.type].validate_python(given)
        except ValidationError:
            lines.append(f"{field.name}: got {shown(given)}, expected {field.type}")
    if lines:
        raise InvalidArguments(complaint(form.name, lines))
    return filled


def _property(field: HttpField) -> JsonSchema:
    described: JsonSchema = {"description": field.description} if field.description else {}
    return {"type": field.type, **described}
