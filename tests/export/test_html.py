import base64
import gzip
import re
from html.parser import HTMLParser

import pytest

from app.domain.events import ToolCalled, ToolReturned
from app.domain.messages import AppPart, TextPart, ToolCall, ToolResult
from app.export.html import RAW_SHOWN, html_page
from app.export.json_lines import json_lines, read_json_lines
from app.export.rich_text import prose
from tests.export.runs import NOTES, PNG, digest, forked_run, rich_run
from tests.hostile import PAYLOADS
from tests.sent import WAYS, run_with_files
from tests.traces import ADD, asked, called, finished, ran, returned, said, started, the_sum, trace_of

INERT_NAMES = (
    "html head meta link title style body main header h1 h2 h3 h4 h5 h6 nav a table thead tbody tr th td p div section "
    "details summary pre img strong em s code br hr ol ul li blockquote del sup math menclose mfrac mi mn mo mover "
    "mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover"
)
INERT = frozenset(INERT_NAMES.split())


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def read(entries, artifacts=None, **kwargs) -> Reader:
    page = html_page(entries, json_lines(entries, app="1"), artifacts=artifacts or {}, **kwargs).decode()
    reader = Reader()
    reader.feed(page)
    return reader


def hostile_run(payload: str):
    bad = ADD.model_copy(update={"name": payload, "arguments": {payload: payload}})
    return trace_of(
        started(model=payload, agent=started().agent.model_copy(update={"name": payload})),
        asked(payload),
        called(),
        said(payload, bad, reasoning=payload),
        returned(),
        *ran(bad, payload, status="error"),
        called("m2"),
        said(payload),
        returned("m2"),
        finished(),
    )


def test_each_file_says_how_it_went_along_at_first():
    text = read(run_with_files()).text
    assert all(words in text for words in WAYS.values())
    assert "Later" not in text.split("Raw data")[1]


def test_an_app_is_told_of_with_the_way_to_the_page_that_shows_it():
    view = AppPart(uri="ui://show", server="shows", artifact="a" * 64)
    result = ToolResult(call_id=ADD.call_id, name=ADD.name, parts=(TextPart(text="Shown: Hello"), view))
    entries = trace_of(
        started(), asked("Show it"), called(), said("", ADD), returned(),
        ToolCalled(call_id=ADD.call_id, name=ADD.name, arguments={}),
        ToolReturned(call_id=ADD.call_id, result=result, ms=1), called("m2"), said("Done"), returned("m2"), finished(),
    )  # fmt: skip
    page = read(entries, origin="http://127.0.0.1:8765")
    address = f"http://127.0.0.1:8765/runs/{entries[0].run_id}"
    assert ("a", {"href": address}) in page.tags
    assert "Shown: Hello" in page.text and "Open in the app" in page.text
    assert "Open in the app" not in read(entries).text


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_is_nothing_but_text(payload):
    for tag, attributes in read(hostile_run(payload)).tags:
        assert tag in INERT
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("style", "srcset", "target")
            if name == "src":
                assert re.match(r"data:image/(png|jpeg|gif|webp);base64,", value or "")
            if name == "href":
                assert re.match(r"(#|https?://|mailto:|data:(application/(gzip|octet-stream);base64)?,)", value or "")
            if name == "http-equiv":
                assert value == "Content-Security-Policy"


def test_the_page_forbids_everything_but_its_own_looks_and_pictures():
    policy = next(attributes["content"] for tag, attributes in read(the_sum()).tags if "http-equiv" in attributes)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    assert rules["style-src"].startswith("'sha256-") and "script-src" not in rules


def test_what_was_said_and_done_is_on_the_page():
    text = read(the_sum()).text
    for words in (
        "What is 5 + 10, then multiply by 3?",
        "First the sum.",
        "15 * 3 = 45",
        "The answer is 45.",
        "$1.5000",
    ):
        assert words in text


def test_arguments_that_cannot_be_read_are_shown_as_they_were_written():
    broken = ToolCall(call_id="c1", name="add", malformed='{"x": 1,')
    ended = ran(broken, "No JSON.", status="invalid")
    entries = trace_of(started(), asked("x"), called(), said("", broken), returned(), *ended, finished())
    page = html_page(entries, b"", artifacts={}).decode().split('id="raw"')[0]
    assert "<pre>{&quot;x&quot;: 1,</pre>" in page and "<pre>{}</pre>" not in page


def test_steps_are_linked_from_the_trajectory():
    reader = read(the_sum())
    ids = {attributes.get("id") for _, attributes in reader.tags}
    links = {attributes["href"] for tag, attributes in reader.tags if tag == "a" and attributes["href"].startswith("#")}
    assert {"#step-1", "#step-2", "#step-3"} <= links
    assert all(link[1:] in ids for link in links)


def test_a_picture_is_inside_once_and_a_file_can_be_saved():
    reader = read(rich_run(), {digest(PNG): PNG, digest(NOTES): NOTES})
    sources = [attributes["src"] for tag, attributes in reader.tags if tag == "img"]
    assert sources == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    saved = [attributes["href"] for tag, attributes in reader.tags if attributes.get("download") == "../../notes.csv"]
    assert saved == [f"data:application/octet-stream;base64,{base64.b64encode(NOTES).decode()}"]
    assert "A chart: shown above" in reader.text


def test_a_picture_that_is_a_page_is_no_picture():
    evil = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    part = rich_run()[1].event.message.parts[1].model_copy(update={"artifact": digest(evil), "media_type": "image/png"})
    message = rich_run()[1].event.message.model_copy(update={"parts": (part,)})
    entries = trace_of(started(), rich_run()[1].event.model_copy(update={"message": message}), finished())
    assert "img" not in [tag for tag, _ in read(entries, {digest(evil): evil}).tags]


def test_a_missing_picture_is_said():
    assert "A chart: its content is not in this file." in read(rich_run()).text


def test_the_whole_trace_comes_along():
    entries = rich_run()
    reader = read(entries)
    address = next(attributes["href"] for _, attributes in reader.tags if attributes.get("download") == "r1.jsonl.gz")
    assert read_json_lines(gzip.decompress(base64.b64decode(address.partition(",")[2]))) == entries


def test_raw_events_beyond_what_the_page_shows_are_counted():
    big = [asked("x" * (RAW_SHOWN // 3)) for _ in range(5)]
    assert "3 more events are in the saved trace." in read(trace_of(started(), *big)).text


def test_a_run_that_goes_on_says_so():
    assert "still going on" in read(the_sum()[:5], alive=True, notes=["Keys were taken out."]).text
    assert "Keys were taken out." in read(the_sum()[:5], notes=["Keys were taken out."]).text


def test_answers_are_read_as_markdown():
    assert prose("**a** | b") == "<p><strong>a</strong> | b</p>\n"
    assert "<table>" in prose("|a|b|\n|-|-|\n|1|2|")


def test_a_fork_counts_what_is_its_own_and_says_what_it_took_over():
    text = read(forked_run()).text
    assert "Forked fromrun r1, behind its entry 6: 1 step reused, 2 new" in text
    assert "Beganrun child (failed)" in text and "Began run child." in text
    assert "Input tokens20 (0 from the cache)" in text
    assert "The figures are those of the fork alone" in text
