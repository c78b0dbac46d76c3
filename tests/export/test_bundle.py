import io
import json
import tracemalloc
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import TooLarge, WorkbenchError
from app.export import bundle as bundles
from app.export.bundle import bundle, read_bundle
from app.export.json_lines import json_lines
from app.export.limits import LARGEST_BUNDLE
from tests.export.runs import NOTES, PNG, digest, rich_run

ARTIFACTS = {digest(PNG): PNG, digest(NOTES): NOTES}


def rich_bundle() -> bytes:
    entries = rich_run()
    return bundle(entries, json_lines(entries, app="1"), app="1", artifacts=ARTIFACTS)


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_of(files: list[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return packed.getvalue()


def changed(**files: bytes) -> bytes:
    known = {"manifest": "manifest.json", "trace": "trace.jsonl"}
    new = {known.get(name, name): content for name, content in files.items()}
    return zip_of(list({**files_of(rich_bundle()), **new}.items()))


def manifest(**changes: object) -> bytes:
    return json.dumps({**json.loads(files_of(rich_bundle())["manifest.json"]), **changes}).encode()


def test_a_bundle_comes_back_as_it_was():
    found = read_bundle(rich_bundle())
    assert (found.entries, found.artifacts, found.app) == (rich_run(), ARTIFACTS, "1")


def test_the_same_run_makes_the_same_bytes():
    assert rich_bundle() == rich_bundle()


def test_the_manifest_says_what_is_inside():
    said = json.loads(files_of(rich_bundle())["manifest.json"])
    assert (said["format"], said["run_id"], said["agent"], said["missing"]) == (bundles.FORMAT, "r1", "Assistant", [])
    assert said["artifacts"] == {name: len(content) for name, content in ARTIFACTS.items()}


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "artifacts/../../evil",
        f"artifacts/{'a' * 64}/../x",
        "artifacts\\..\\evil",
        "C:\\evil",
        f"artifacts/{'A' * 64}",
        f"artifacts/{'a' * 63}",
        "manifest.json/x",
        "con",
        "artifacts/",
    ],
)
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.raises(WorkbenchError, match="belongs to none"):
        read_bundle(zip_of([*files_of(rich_bundle()).items(), (name, b"x")]))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged, or no zip"),
        (b"PK\x03\x04 and nothing else", "damaged, or no zip"),
        (rich_bundle()[:-30], "damaged, or no zip"),
        (zip_of([]), "manifest.json is not in it"),
        (zip_of([("manifest.json", b"{}")]), "trace.jsonl is not in it"),
        (changed(manifest=b"["), "not JSON"),
        (changed(manifest=manifest(format="other")), "does not say"),
        (changed(manifest=manifest(version=2)), "newer Agent Playground (format 2"),
        (changed(manifest=manifest(trace_format=99)), "newer Agent Playground (format 99"),
        (changed(manifest=manifest(artifacts={"a" * 64: 1})), "1 of its artifacts are missing"),
        (changed(trace=b"{}"), "does not say"),
        (changed(**{f"artifacts/{digest(PNG)}": b"other"}), "is not what its name says"),
    ],
)
def test_a_damaged_bundle_is_refused_in_words(content, said):
    with pytest.raises(WorkbenchError) as caught:
        read_bundle(content)
    assert said in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("said", [[1], ["x"], [None], [[1]], {"a": 1}, [{"by": 1}]])
def test_a_score_that_cannot_be_read_is_left_out(said):
    assert read_bundle(changed(manifest=manifest(scores=said))).scores == ()


def test_a_score_that_does_not_say_in_which_zone_it_was_given_is_left_out():
    score = {"id": "s", "run_id": "r", "name": "rating", "value": 1, "by": "page", "at": "2026-11-01T10:00:00"}
    read = read_bundle(changed(manifest=manifest(scores=[score, {**score, "at": "2026-11-01T10:00:00Z"}]))).scores
    assert [one.at for one in read] == [datetime(2026, 11, 1, 10, tzinfo=UTC)]


def test_a_trace_that_does_not_say_in_which_zone_it_happened_is_refused():
    with pytest.raises(WorkbenchError, match="at: Input should have timezone info"):
        read_bundle(changed(trace=files_of(rich_bundle())["trace.jsonl"].replace(b"05.700000Z", b"05.700000")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused():
    with pytest.raises(WorkbenchError, match="twice"):
        read_bundle(zip_of([*files_of(rich_bundle()).items(), ("trace.jsonl", b"x")]))


def test_a_bundle_too_large_to_take_in_is_refused_before_it_is_read():
    with pytest.raises(TooLarge, match="128 MiB at most"):
        read_bundle(bytes(LARGEST_BUNDLE + 1))


def hostile(line: bytes, count: int) -> bytes:
    """A bundle whose trace goes on with that line, so many times."""
    trace = files_of(rich_bundle())["trace.jsonl"]
    return changed(trace=trace + b"".join(line % seq for seq in range(count)))


def entry(event: bytes) -> bytes:
    return b'{"run_id":"r1","seq":%%d,"at":"2026-01-02T03:04:05Z","event":%b}\n' % event


NESTED = entry(b'{"type":"tool_called","call_id":"c","name":"n","arguments":{"x":[%b]}}' % b",".join([b"[]"] * 40_000))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: hostile(entry(b'{"type":"tool_called","call_id":"%b"}' % bytes(9_000_000)), 1),
            "This trace is too large",
        ),
        (lambda: hostile(NESTED.replace(b"[]", b"[],[]"), 1), "This trace is too large"),
        (lambda: hostile(NESTED, 30), "This trace is too large"),
        (
            lambda: hostile(entry(b'{"type":"run_resumed","by":"%b"}' % (b"x" * 1_000_000)), 34),
            "This trace is too large",
        ),
        (lambda: changed(manifest=bytes(150_000_000)), "Unpacked, this bundle has more than 128 MiB"),
    ],
    ids=["line", "values of a line", "values", "trace", "manifest"],
)
def test_a_bundle_that_would_take_much_memory_is_refused_before_it_does(made, said):
    bomb = made()
    assert len(bomb) < 2_000_000
    tracemalloc.start()
    with pytest.raises(WorkbenchError, match=said):
        read_bundle(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 400_000_000


def test_a_bundle_of_more_entries_than_a_run_may_have_is_refused():
    with pytest.raises(TooLarge, match="50,000 entries"):
        read_bundle(hostile(entry(b'{"type":"run_resumed"}'), 50_001))


def test_artifacts_of_more_than_fits_are_refused():
    name, content = digest(bytes(90_000)), bytes(90_000)
    bomb = changed(**{f"artifacts/{name}": content})
    assert read_bundle(bomb).artifacts[name] == content
    with pytest.raises(TooLarge, match="Unpacked"):
        read_bundle(bomb, largest_unpacked=80_000)


def test_a_zip_file_with_a_long_list_is_refused_before_that_is_read():
    with pytest.raises(TooLarge, match="lists more files than fit into 2 MiB"):
        read_bundle(zip_of([(f"{number:0100}", b"") for number in range(15_000)]))


def test_a_bundle_of_very_many_files_is_refused():
    with pytest.raises(TooLarge, match="files"):
        read_bundle(zip_of([(str(number), b"") for number in range(bundles.MOST_FILES + 1)]))


WHOLE = rich_bundle()


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
@settings(max_examples=60, deadline=None)
def test_a_bundle_with_a_changed_byte_is_the_same_or_refused(place, change):
    content = bytearray(WHOLE)
    content[place] ^= change
    try:
        found = read_bundle(bytes(content))
    except WorkbenchError:
        return
    assert (found.entries, found.artifacts) == (rich_run(), ARTIFACTS)
