import io
import json
import re
import zipfile

import pytest

from app.domain.errors import NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.messages import ImagePart, user_message
from app.export.exports import FORMATS, MOST_RUNS, Choice, Exports
from tests.export.runs import NOTES, PNG, Shelf, digest, rich_run
from tests.traces import asked, call, called, finished, ran, returned, said, started, the_sum, trace_of

SECRET = "planted-secret-0042"
SHAPED = "sk-planted-0123456789"


def exports_of(shelf: Shelf, *secrets: str) -> Exports:
    return Exports(shelf, shelf, lambda: secrets, app="1", importing=None)


def names_in(content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.namelist()


def unpacked(content: bytes) -> bytes:
    if not content.startswith(b"PK"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def telling_run():
    text = f"My keys are {SECRET} and {SHAPED}."
    return trace_of(started(files={"/notes.txt": digest(text.encode())}), asked(text), said(text), finished()), text


@pytest.mark.parametrize("format", FORMATS)
async def test_no_format_holds_a_secret(format):
    entries, text = telling_run()
    exported = await exports_of(Shelf(entries, artifacts=(text.encode(),)), SECRET).export("r1", format)
    content = unpacked(exported.content)
    assert SECRET.encode() not in content and SHAPED.encode() not in content
    assert b"[redacted known key]" in content and b"[redacted API key]" in content


@pytest.mark.parametrize("format", FORMATS)
async def test_a_shape_can_be_let_through_and_a_known_key_cannot(format):
    entries, _ = telling_run()
    choice = Choice(let_through=frozenset({"API key"}))
    content = unpacked((await exports_of(Shelf(entries), SECRET).export("r1", format, choice)).content)
    assert SHAPED.encode() in content and SECRET.encode() not in content


async def test_the_preview_names_each_place():
    entries, text = telling_run()
    found = await exports_of(Shelf(entries, artifacts=(text.encode(),)), SECRET).preview(["r1"])
    assert [(one.seq, one.kind) for one in found] == [
        (seq, kind) for seq in (-1, 1, 2) for kind in ("API key", "known key")
    ]
    assert all(SECRET not in one.masked and SHAPED not in one.masked for one in found)


@pytest.mark.parametrize(
    ("format", "ending", "media_type"),
    [
        ("markdown", "md.zip", "application/zip"),
        ("html", "html", "text/html; charset=utf-8"),
        ("jsonl", "jsonl", "application/x-ndjson"),
        ("otel", "otlp.json", "application/json"),
        ("bundle", "run.zip", "application/zip"),
    ],
)
async def test_a_file_is_named_after_agent_and_run(format, ending, media_type):
    exported = await exports_of(Shelf(rich_run())).export("r1", format)
    assert (exported.filename, exported.media_type) == (f"assistant-r1.{ending}", media_type)


@pytest.mark.parametrize("slug", ["../../etc/passwd", "a/b\\c", "Übung 🎉", "\u202egnp.exe", "con", "", "x" * 500])
async def test_a_file_name_is_safe_whatever_the_agent_is_called(slug):
    entries = trace_of(started(agent=started().agent.model_copy(update={"slug": slug})), asked("x"), finished())
    exported = await exports_of(Shelf(entries)).export("r1", "jsonl")
    assert re.fullmatch(r"[a-z0-9-]{1,60}\.jsonl", exported.filename)
    assert not exported.filename.startswith("con-") or slug != "con"


async def test_a_review_without_files_is_one_document():
    exported = await exports_of(Shelf(trace_of(started(), asked("x"), said("y"), finished()))).export("r1", "markdown")
    assert (exported.filename, exported.media_type) == ("assistant-r1.md", "text/markdown; charset=utf-8")


async def test_a_review_has_its_files_beside_it():
    exported = await exports_of(Shelf(rich_run())).export("r1", "markdown")
    assert names_in(exported.content)[0] == "review.md"
    assert "images/01_a-chart.png" in names_in(exported.content)
    left_out = await exports_of(Shelf(rich_run())).export("r1", "markdown", Choice(attachments=False))
    assert not [name for name in names_in(left_out.content) if name.startswith(("images", "files"))]


async def test_a_review_without_files_of_its_calls_is_one_document_and_links_to_none():
    exported = await exports_of(Shelf(the_sum())).export("r1", "markdown", Choice(call_files=False))
    assert exported.filename == "assistant-r1.md"
    assert b"calculator" in exported.content and b"tool_calls/" not in exported.content


@pytest.mark.parametrize("format", FORMATS)
async def test_artifacts_that_are_gone_are_said_and_no_error(format):
    exported = await exports_of(Shelf(rich_run(), artifacts=())).export("r1", format)
    if format == "bundle":
        with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
            assert set(json.loads(archive.read("manifest.json"))["missing"]) == {digest(PNG), digest(NOTES)}
    elif format != "otel":
        assert b"2 of its images and files are not stored any more" in unpacked(exported.content)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("named", ["abc", SECRET])
async def test_a_picture_that_names_no_content_is_missing_and_no_error(format, named):
    message = user_message("Look", ImagePart(artifact=named, media_type="image/png"))
    entries = trace_of(started(), asked("").model_copy(update={"message": message}), finished())
    content = unpacked((await exports_of(Shelf(entries), SECRET).export("r1", format)).content)
    assert format != "markdown" or b"its content is not in this export" in content


@pytest.mark.parametrize("format", FORMATS)
async def test_a_run_that_goes_on_is_exported_as_it_stands(format):
    exported = await exports_of(Shelf(the_sum()[:7], alive=True)).export("r1", format)
    assert exported.content


async def test_a_picture_of_10_mb_comes_along():
    big = PNG + bytes(10_000_000)
    part = rich_run()[1].event.message.parts[1].model_copy(update={"artifact": digest(big)})
    message = rich_run()[1].event.message.model_copy(update={"parts": (part,)})
    entries = trace_of(started(), rich_run()[1].event.model_copy(update={"message": message}), finished())
    exported = await exports_of(Shelf(entries, artifacts=(big,))).export("r1", "html")
    assert len(exported.content) > 13_000_000


@pytest.mark.parametrize("format", FORMATS)
async def test_a_whole_number_of_any_length_leaves_as_it_is(format):
    exact = call("c1", "measure", x=10**30, limit=float("inf"))
    said_once = (called(), said("", exact), returned(), *ran(exact, "ok"))
    entries = trace_of(started(), asked("How much?"), *said_once, called("m2"), said("Much."), finished())
    content = unpacked((await exports_of(Shelf(entries)).export("r1", format)).content)
    assert str(10**30).encode() in content and b"Infinity" not in content


@pytest.mark.parametrize("format", FORMATS)
async def test_half_a_character_in_the_json_of_a_tool_keeps_no_run_from_leaving(format):
    asking = call("c1", "read")
    said_once = (
        called(),
        said("", asking),
        returned(),
        *ran(asking, '{"rows": [{"a": "cut \\ud83d"}], "cut \\ud83d": 1}'),
    )
    entries = trace_of(started(), asked("Read."), *said_once, called("m2"), said("Read."), finished())
    exported = await exports_of(Shelf(entries)).export("r1", format)
    assert exported.content


async def test_several_runs_are_one_zip_file():
    shelf = Shelf(rich_run("r1"), rich_run("r2"))
    exported = await exports_of(shelf).export_all(["r1", "r2"], "html")
    assert exported.filename == "2-runs-html.zip"
    assert names_in(exported.content) == ["001-assistant-r1.html", "002-assistant-r2.html"]
    assert (await exports_of(shelf).export_all(["r2"], "html")).filename == "assistant-r2.html"


async def test_what_cannot_be_exported_is_said_in_words():
    exports = exports_of(Shelf(the_sum(), the_sum()[1:]))
    with pytest.raises(StorageError, match="beginning of run r1"):
        await exports.export("r1", "html")
    with pytest.raises(NotFound):
        await exports.export("nowhere", "html")
    with pytest.raises(TooLarge):
        await exports.export_all(["r1"] * (MOST_RUNS + 1), "html")
    with pytest.raises(TooLarge):
        await exports.export_all([], "html")
    with pytest.raises(WorkbenchError, match="Runs page"):
        await exports.import_bundle(b"")
