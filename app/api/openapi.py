"""The API's description of itself: FastAPI's, with the keys it takes and an example of every body and answer."""

import inspect
from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts
from pydantic import JsonValue, TypeAdapter
from starlette.routing import WebSocketRoute

from app.api.door.envelopes import ErrorEnvelope

DESCRIPTION = """Run agents, read their runs step by step, and manage agents and tools.

Every answer is `{"success": true, "data": …}`, lists with a `count`; every error is
`{"success": false, "error": "<sentence>", "code": "<word>"}`. Send a key as `Authorization: Bearer <key>` or
`X-API-Key: <key>`; without one only public agents are listed, read and run. For a key for certain agents there is what
it started, and the active variant of its agents: more has to be ticked for it.

A run that failed answers so too, with the class of its error as `code`, a status that goes with it and the whole reply
in `data`.

Two WebSockets follow what happens while it does: `/api/v1/runs/{run_id}/stream` and `/api/v1/ws/chat`. They take a key
in the same headers; `x-websockets` in openapi.json says what goes over them.

A run belongs to the app: it goes on when who asked for it hangs up.

Clients of MCP ask at `/mcp` (streamable HTTP) with the same keys: a tool `run_<slug>` for each agent of the key,
`get_run` and `stop_run`.

Prometheus scrapes `/metrics`, with a key for all agents."""

Document = dict[str, JsonValue]
_DOCUMENT: TypeAdapter[Document] = TypeAdapter(Document)
_SCHEMES: Document = {
    "Bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or the token of the printed address."},
    "X-API-Key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same in a header."},
}
_METHODS = frozenset({"get", "put", "post", "delete", "patch"})
_REF = "#/components/schemas/"
_PLAIN: Document = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}}
DEEPEST = 6
"""Levels of an example that is made."""


def openapi_document(app: FastAPI) -> Document:
    """The OpenAPI document of the app; takes some tenths of a second."""
    described = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    document = _DOCUMENT.validate_python(described)
    schemas = _at(document, "components", "schemas")
    schemas[ErrorEnvelope.__name__] = ErrorEnvelope.model_json_schema(mode="serialization")
    _at(document, "components")["securitySchemes"] = _SCHEMES
    document["x-websockets"] = _sockets(app)
    document["security"] = [{name: []} for name in _SCHEMES]
    for schema in schemas.values():
        _complete_examples(schema, schemas)
    for operation in _operations(document):
        for content in _contents(operation):
            _add_example(content, schemas)
    return document


def _sockets(app: FastAPI) -> Document:
    """By path what the sockets are for, which OpenAPI has no place for."""
    sockets = (one for one in iter_route_contexts(app.routes) if isinstance(one.original_route, WebSocketRoute))
    return {
        str(one.path): {
            "summary": str(one.original_route.name).replace("_", " ").capitalize(),
            "description": inspect.cleandoc(one.original_route.endpoint.__doc__ or ""),
        }
        for one in sockets
        if isinstance(one.original_route, WebSocketRoute)
    }


def _operations(document: Document) -> Iterator[Document]:
    for path in _at(document, "paths").values():
        for method, operation in path.items() if isinstance(path, dict) else ():
            if method in _METHODS and isinstance(operation, dict):
                yield operation


def _contents(operation: Document) -> Iterator[Document]:
    """The body of an operation and its answers, as far as they are JSON."""
    for holder in (_at(operation, "requestBody"), *_at(operation, "responses").values()):
        if isinstance(holder, dict) and (content := _at(holder, "content", "application/json")):
            yield content


def _add_example(content: Document, schemas: Document) -> None:
    if "example" not in content and (schema := _at(content, "schema")):
        content["example"] = _example(schema, schemas)


def _example(schema: Document, schemas: Document, depth: int = 0) -> JsonValue:
    """An example of what fits the schema: the one that somebody gave, or one made of its parts."""
    schema = _followed(schema, schemas)
    if (given := _given(schema)) is not None:
        return given
    choices = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(choices, list) and isinstance(choices[0], dict):
        return _example(choices[0], schemas, depth + 1)
    if depth > DEEPEST:
        return None
    if schema.get("type") == "array":
        return [_example(_at(schema, "items"), schemas, depth + 1)]
    if properties := _at(schema, "properties"):
        parts = {name: one for name, one in properties.items() if isinstance(one, dict)}
        return {name: _example(one, schemas, depth + 1) for name, one in parts.items()}
    return _PLAIN.get(str(schema.get("type")))


def _complete_examples(schema: JsonValue, schemas: Document) -> None:
    if isinstance(schema, dict) and isinstance(given := schema.get("examples"), list):
        schema["examples"] = [_complete(example, schema, schemas) for example in given]


def _complete(example: JsonValue, schema: Document, schemas: Document) -> JsonValue:
    """The example with its nulls: FastAPI leaves them out of a document, wherever they stand."""
    choices = schema.get("anyOf")
    first = choices[0] if isinstance(choices, list) else schema
    schema = _followed(first, schemas) if isinstance(first, dict) else schema
    if isinstance(example, list):
        return [_complete(one, _at(schema, "items"), schemas) for one in example]
    properties, required = _at(schema, "properties"), schema.get("required", [])
    if not isinstance(example, dict) or not isinstance(required, list):
        return example
    names = [name for name in properties if name in example or name in required]
    whole = {name: _complete(example.get(name), _at(properties, name), schemas) for name in names}
    return whole | {name: value for name, value in example.items() if name not in whole}


def _given(schema: Document) -> JsonValue:
    """What the schema itself names: an example, its default, its only value, or the first of its values."""
    for name in ("examples", "enum"):
        values = schema.get(name)
        if isinstance(values, list) and values:
            return values[0]
    return schema.get("const", schema.get("default"))


def _followed(schema: Document, schemas: Document) -> Document:
    ref = schema.get("$ref")
    return _at(schemas, ref.removeprefix(_REF)) if isinstance(ref, str) else schema


def _at(document: Document, *path: str) -> Document:
    """The object at that path; an empty one where there is none."""
    for name in path:
        found = document.get(name)
        document = found if isinstance(found, dict) else {}
    return document
