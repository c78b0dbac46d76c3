"""What the API says of itself."""

from jsonschema import Draft202012Validator

from app.api.application import api_without_workbench
from app.api.openapi import openapi_document

METHODS = {"get", "put", "post", "delete"}


async def test_every_operation_is_described_with_examples_errors_and_keys(client):
    document = (await client.get("/openapi.json")).json()
    assert set(document["components"]["securitySchemes"]) == {"Bearer", "X-API-Key"}
    assert document["security"] == [{"Bearer": []}, {"X-API-Key": []}]
    missing = []
    for path, operations in document["paths"].items():
        assert path.startswith("/api/v1/")
        for method, operation in operations.items():
            assert method in METHODS
            assert {"401", "404", "409", "413", "422", "429", "507"} <= operation["responses"].keys(), path
            described = operation["summary"] and operation["description"]
            shown = [operation.get("requestBody", {}), *operation["responses"].values()]
            contents = [
                one["content"]["application/json"] for one in shown if "application/json" in one.get("content", {})
            ]
            if not described or not all("example" in content or not content.get("schema") for content in contents):
                missing.append((method, path))
    assert not missing


def test_whoever_reads_it_leaves_no_warning_in_the_terminal(recwarn):
    assert openapi_document(api_without_workbench())
    left = [one for one in recwarn if not issubclass(one.category, ResourceWarning)]  # what other tests left unclosed
    assert not left


async def test_every_example_fits_its_schema(client):
    document = (await client.get("/openapi.json")).json()
    contents = [
        (path, method, content)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for shown in (operation.get("requestBody", {}), *operation["responses"].values())
        for kind, content in shown.get("content", {}).items()
        if kind == "application/json"
    ]
    wrong = []
    for path, method, content in contents:
        schema = {**content.get("schema", {}), "components": document["components"]}
        examples = [content["example"]] if "example" in content else []
        examples += [example["value"] for example in content.get("examples", {}).values()]
        for example in examples:
            wrong += [(method, path, fault.message) for fault in Draft202012Validator(schema).iter_errors(example)]
    assert len(contents) > 100
    for name, schema in document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            found = Draft202012Validator({**schema, "components": document["components"]}).iter_errors(example)
            wrong += [(name, fault.message) for fault in found]
    assert not wrong


async def test_fields_and_sockets_are_described(client):
    document = (await client.get("/openapi.json")).json()
    fields = document["components"]["schemas"]["RunReply"]["properties"]
    assert fields["output"]["description"].startswith("The answer, parsed when it is a JSON object")
    assert document["x-websockets"].keys() == {"/api/v1/runs/{run_id}/stream", "/api/v1/ws/chat"}
    for path, socket in document["x-websockets"].items():
        assert path in document["info"]["description"], path
        assert socket["summary"] and len(socket["description"]) > 100


async def test_whatever_is_run_is_said_to_stream(client):
    paths = (await client.get("/openapi.json")).json()["paths"]
    for path in ("agents/{agent}/run", "workflows/{workflow}/run"):
        answered = paths[f"/api/v1/{path}"]["post"]["responses"]["200"]
        assert answered["content"].keys() == {"application/json", "text/event-stream"}, path
        assert "server-sent events" in answered["description"], path


async def test_the_contract_has_all_its_addresses(client):
    paths = (await client.get("/openapi.json")).json()["paths"]
    for path, methods in {
        "agents": {"get", "post"},
        "agents/{agent}": {"get", "put", "delete"},
        "agents/{agent}/variants": {"get", "post"},
        "agents/{agent}/variants/{number}/promote": {"post"},
        "agents/{agent}/run": {"post"},
        "agents/{agent}/runs": {"get"},
        "runs": {"get"},
        "runs/{run_id}": {"get", "delete"},
        "runs/{run_id}/events": {"get"},
        "runs/{run_id}/stop": {"post"},
        "runs/{run_id}/steer": {"post"},
        "runs/{run_id}/retry": {"post"},
        "runs/{run_id}/resume": {"post"},
        "runs/{run_id}/pauses/{asked}": {"post"},
        "chat": {"post"},
        "tools": {"get"},
        "tools/{name}": {"get", "put"},
        "tools/{name}/call": {"post"},
        "sessions": {"get"},
        "sessions/{session_id}": {"get", "delete"},
        "sessions/{session_id}/queue": {"post"},
        "artifacts/{sha256}": {"get"},
    }.items():
        assert methods <= paths[f"/api/v1/{path}"].keys(), path


async def test_the_documentation_loads_nothing_from_elsewhere(client):
    page = (await client.get("/docs")).text
    script = await client.get("/docs/docs.js")
    style = await client.get("/docs/docs.css")
    assert script.headers["content-type"].startswith("text/javascript")
    assert style.headers["content-type"].startswith("text/css")
    assert not [text for text in (page, script.text, style.text) if "http://" in text or "https://" in text]
    assert (await client.get("/docs/docs.html")).status_code == 422
