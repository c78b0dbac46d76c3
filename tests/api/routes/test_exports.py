"""REST for runs that are taken along, over a real workbench."""

import asyncio

import pytest

from app.export.bundle import bundle, read_bundle
from app.export.json_lines import json_lines, read_json_lines
from app.workbench import Workbench
from tests.export.runs import NOTES, PNG, digest, rich_run


@pytest.fixture(autouse=True)
async def taken_in(workbench: Workbench) -> None:
    entries = rich_run()
    artifacts = {digest(PNG): PNG, digest(NOTES): NOTES}
    await workbench.exports.import_bundle(bundle(entries, json_lines(entries, app="1"), app="1", artifacts=artifacts))


async def test_a_run_is_exported_in_every_format_as_a_file_that_no_browser_opens(client):
    kinds = {
        "markdown": ("application/zip", "assistant-r1.md.zip"),
        "html": ("text/html; charset=utf-8", "assistant-r1.html"),
        "jsonl": ("application/x-ndjson", "assistant-r1.jsonl"),
        "otel": ("application/json", "assistant-r1.otlp.json"),
        "bundle": ("application/zip", "assistant-r1.run.zip"),
    }
    for format, (media_type, name) in kinds.items():
        answer = await client.get("/runs/r1/export", params={"format": format})
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["x-content-type-options"] == "nosniff"
        if format == "jsonl":
            assert len(read_json_lines(answer.content)) == len(rich_run())
        if format == "bundle":
            assert set(read_bundle(answer.content).artifacts) == {digest(PNG), digest(NOTES)}


async def test_images_and_files_can_be_left_out(client):
    answer = await client.get("/runs/r1/export", params={"format": "bundle", "attachments": "false"})
    assert read_bundle(answer.content).artifacts == {}


async def test_a_bundle_is_imported_by_the_owner_and_found_by_search(client, workbench):
    await workbench.search.ready()
    content = (await client.get("/runs/r1/export", params={"format": "bundle"})).content
    answer = await client.post("/runs/import", content=content, headers={"Content-Type": "application/zip"})
    run_id = answer.json()["data"]["run_id"]
    assert (answer.status_code, answer.json()["success"]) == (201, True) and run_id != "r1"
    await workbench.search.ready()
    found = (await client.get("/runs", params={"q": '"a chart"'})).json()["data"]
    assert {run["id"] for run in found} == {"r1", run_id}


@pytest.mark.parametrize(("content", "said"), [(b"", "damaged, or no zip file"), (b"PK\x03\x04 torn", "damaged")])
async def test_what_is_no_bundle_is_refused_in_words(client, content, said):
    answer = await client.post("/runs/import", content=content)
    assert answer.status_code == 422 and said in answer.json()["error"]


async def test_a_run_of_which_not_all_can_be_read_is_exported_and_says_so(client, workbench):
    journal = workbench.data.path / "runs" / "r1.tdb"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:6], lines[6][:-12] + b"#" * 11 + b"\n", *lines[7:]]))
    for format in ("markdown", "html", "jsonl", "otel", "bundle"):
        answer = await client.get("/runs/r1/export", params={"format": format, "attachments": "false"})
        assert answer.status_code == 200, answer.text
        if format == "html":
            assert "Not all of the trace could be read" in answer.text
    journal.write_bytes(b"nothing that can be read\n")
    for path in ("/runs/r1/export", "/runs/r1"):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (507, "storage"), path
        assert "beginning of" in answer.json()["error"] and "r1" in answer.json()["error"]


async def test_a_run_that_is_deleted_for_good_while_it_is_exported_is_told_or_whole(client, workbench):
    asked = [client.get("/runs/r1/export", params={"format": format}) for format in ("html", "bundle", "jsonl")]
    removed = workbench.data.traces.delete("r1")
    *answers, _ = await asyncio.gather(*asked, removed)
    assert {answer.status_code for answer in answers} <= {200, 404}, [answer.text[:300] for answer in answers]
    answer = await client.get("/runs/r1/export")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_what_is_not_there_is_refused_in_words(client):
    answer = await client.get("/runs/nowhere/export")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    answer = await client.get("/runs/r1/export", params={"format": "pdf"})
    assert answer.status_code == 422 and not answer.json()["success"]
    assert (await client.get("/runs/..%2F..%2Fx/export")).status_code == 404
