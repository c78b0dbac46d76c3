import pytest

from app.domain.errors import NotFound
from app.domain.events import FileChanged
from app.domain.messages import ImagePart, TextPart, ToolResult, ToolStatus
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.domain.values import now
from app.ui.components.tool_body import SHOWN, STATUS_WORDS, attachments, call_body
from app.ui.components.tool_card import call_line
from tests.hostile import PAYLOADS

SPEC = ToolSpec(name="calculator", description="", parameters={}, title="Calculator", icon="calculate")


class Shelf:
    """Artifacts in memory, by any name."""

    def __init__(self, **contents: bytes) -> None:
        self.contents = contents

    async def put(self, content: bytes) -> str:
        self.contents[str(len(self.contents))] = content
        return str(len(self.contents) - 1)

    async def get(self, digest: str) -> bytes:
        if digest not in self.contents:
            raise NotFound(f"There is no artifact {digest!r}.")
        return self.contents[digest]


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
    assert '<span class="k">def</span>' in body


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


async def test_a_change_of_a_file_is_a_diff() -> None:
    change = FileChanged(call_id="id", path="/a.txt", before="old", after="new")
    shown = await attachments(call(changes=[change]), Shelf(old=b"one\ntwo\n", new=b"one\nthree\n"))
    assert '<span class="diff-removed">-two\n</span>' in shown
    assert '<span class="diff-added">+three\n</span>' in shown
    assert "Changed /a.txt" in shown


async def test_a_change_of_binary_or_missing_content_is_named() -> None:
    change = FileChanged(call_id="id", path="/a.bin", before=None, after="new")
    assert "not text" in await attachments(call(changes=[change]), Shelf(new=b"\xff\xfe\x00"))
    assert "no artifact" in await attachments(call(changes=[change]), Shelf())


async def test_an_image_is_shown_and_an_svg_is_not() -> None:
    def drawn(media_type: str) -> CallView:
        parts = (ImagePart(artifact="image", media_type=media_type, alt="A chart"),)
        return call(result=ToolResult(call_id="id", name="calculator", parts=parts))

    shelf = Shelf(image=b"bytes")
    assert 'src="data:image/png;base64,Ynl0ZXM="' in await attachments(drawn("image/png"), shelf)
    assert "<img" not in await attachments(drawn("image/svg+xml"), shelf)


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_hostile_text_stays_text_everywhere_on_a_card(payload: str) -> None:
    change = FileChanged(call_id="id", path=payload, before="old", after="new")
    hostile = call(
        payload,
        "error",
        name=payload,
        arguments={payload: payload},
        printed=payload,
        traceback=payload,
        changes=[change],
    )
    attached = await attachments(hostile, Shelf(old=b"", new=payload.encode()))
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
