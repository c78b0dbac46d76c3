from pathlib import Path

import pytest

from app.domain.events import FileChanged
from app.domain.messages import ImagePart, TextPart, ToolResult, ToolStatus
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.domain.values import now
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import Contents
from app.ui.conversation.tool_body import SHOWN, STATUS_WORDS, attachments, call_body
from app.ui.conversation.tool_card import call_line
from tests.hostile import PAYLOADS

SPEC = ToolSpec(name="calculator", description="", parameters={}, title="Calculator", icon="calculate")


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


@pytest.fixture
def contents(artifacts: Artifacts) -> Contents:
    return Contents(artifacts)


def call(text: str = "5 + 10 = 15", status: ToolStatus = "ok", **more: object) -> CallView:
    view = CallView("id", "calculator", {"operation": "add", "x": 5}, asked_seq=1, started_at=now(), ms=12)
    view.result = ToolResult(call_id="id", name="calculator", status=status, parts=(TextPart(text=text),))
    for name, value in more.items():
        setattr(view, name, value)
    return view


def test_the_line_says_what_was_called_and_what_came_out() -> None:
    line = call_line(call(), SPEC)
    for piece in ("Calculator", "operation: add, x: 5", "5 + 10 = 15", "12 ms", "Done", "tool-done"):
        assert piece in line
    assert 'data-testid="tool-result"' in line
    assert 'data-testid="tool-result"' not in call_line(call(), SPEC, with_result=False)


@pytest.mark.parametrize(("result", "started", "words"), [(False, False, "Waiting"), (False, True, "Running")])
def test_an_unfinished_call_says_where_it_stands(result: bool, started: bool, words: str) -> None:
    line = call_line(call(result=None, started_at=now() if started else None, ms=None), None)
    assert words in line
    assert "calculator" in line


@pytest.mark.parametrize(("started", "words"), [(False, "Not called"), (True, "Interrupted")])
def test_a_call_whose_run_was_left_goes_on_no_more(started: bool, words: str) -> None:
    left = call(result=None, started_at=now() if started else None, ms=None, left=True)
    line = call_line(left, None)
    assert words in line and "spinner" not in line
    assert "the app was closed before" in call_body(left)
    assert "Done" in call_line(call(left=True), None)


@pytest.mark.parametrize("status", [status for status in STATUS_WORDS if status != "ok"])
def test_a_failed_call_says_how(status: ToolStatus) -> None:
    failed = call("It broke.", status, traceback="Traceback: here")
    assert STATUS_WORDS[status] in call_line(failed, SPEC)
    assert "tool-failed" in call_line(failed, SPEC)
    body = call_body(failed)
    assert 'data-testid="tool-error"' in body
    assert "It broke." in body
    assert "Traceback: here" in body


def test_arguments_are_shown_as_json_and_code_as_code() -> None:
    body = call_body(call(name="execute_python", arguments={"code": "def f():\n    pass"}))
    assert "&quot;code&quot;: &quot;def f():\\n    pass&quot;" in body
    assert '<code class="language-python">def f():' in body


def test_arguments_that_are_no_json_are_shown_as_written() -> None:
    body = call_body(call(malformed='{"x": '))
    assert "no JSON object" in body
    assert "{&quot;x&quot;: " in body


def test_a_long_result_is_cut_and_counted() -> None:
    body = call_body(call("x" * (SHOWN + 5)))
    assert "x" * SHOWN in body
    assert "x" * (SHOWN + 1) not in body
    assert f"The first {SHOWN:,} of {SHOWN + 5:,} characters." in body


def test_of_a_long_print_the_end_is_shown() -> None:
    body = call_body(call(printed="a" * SHOWN + "the end"))
    assert "the end" in body
    assert f"of {SHOWN + 7:,} characters" in body


async def test_a_change_of_a_file_is_a_diff(artifacts: Artifacts, contents: Contents) -> None:
    old, new = await artifacts.put(b"one\ntwo\n"), await artifacts.put(b"one\nthree\n")
    change = FileChanged(call_id="id", path="/a.txt", before=old, after=new)
    shown = await attachments(call(changes=[change]), contents)
    assert '<span class="diff-removed">-two\n</span>' in shown
    assert '<span class="diff-added">+three\n</span>' in shown
    assert "Changed /a.txt" in shown


async def test_a_change_of_binary_or_missing_content_is_named(artifacts: Artifacts, contents: Contents) -> None:
    change = FileChanged(call_id="id", path="/a.bin", before=None, after=await artifacts.put(b"\xff\xfe\x00"))
    assert "not text" in await attachments(call(changes=[change]), contents)
    lost = change.model_copy(update={"after": "0" * 64})
    assert "no artifact" in await attachments(call(changes=[lost]), contents)


async def test_an_image_is_shown_and_an_svg_is_not(artifacts: Artifacts, contents: Contents) -> None:
    def drawn(media_type: str) -> CallView:
        parts = (ImagePart(artifact=image, media_type=media_type, alt="A chart"),)
        return call(result=ToolResult(call_id="id", name="calculator", parts=parts))

    image = await artifacts.put(b"bytes")
    assert f'<img src="{contents.picture(image)}" alt="A chart"' in await attachments(drawn("image/png"), contents)
    assert "<img" not in await attachments(drawn("image/svg+xml"), contents)


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_hostile_text_stays_text_everywhere_on_a_card(
    payload: str, artifacts: Artifacts, contents: Contents
) -> None:
    old, new = await artifacts.put(b""), await artifacts.put(payload.encode())
    change = FileChanged(call_id="id", path=payload, before=old, after=new)
    hostile = call(
        payload,
        "error",
        name=payload,
        arguments={payload: payload},
        printed=payload,
        traceback=payload,
        changes=[change],
    )
    attached = await attachments(hostile, contents)
    html = call_line(hostile, SPEC.model_copy(update={"title": payload, "icon": payload})) + call_body(
        hostile, attached
    )
    for opening in (
        "<script",
        "<img",
        "<svg",
        "<iframe",
        "<style",
        "<form",
        "<a ",
        "<input",
        "<link",
        "<base",
        "<meta",
    ):
        assert opening not in html.lower()
