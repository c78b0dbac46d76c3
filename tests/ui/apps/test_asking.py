"""What a view asks for, as it is read out of what it sent."""

import pytest

from app.domain.errors import ToolError
from app.domain.tool_settings import McpServer, StdioTransport
from app.tools.mcp.states import ServerState
from app.ui.apps.app_view import _context, _params, _text, off_words
from app.ui.apps.asks import _is_of_web
from app.ui.apps.looks import looks

OTHERS = (
    "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "https://", "//example.com", "mailto:a@b.c",
    "https://a\u202eb.example", "https://a b", "https://a\nb", "https:\\\\example.com", "https://" + "a" * 5_000,
)  # fmt: skip


def test_only_addresses_of_the_web_are_opened():
    assert _is_of_web("https://example.com/a?b=c#d") and _is_of_web("http://example.com")
    assert not any(map(_is_of_web, OTHERS))


@pytest.mark.parametrize("written", ['{"uri": "ui://\\ud83d"}', '{"size": NaN}', "[" * 5_000, "{"])
def test_what_no_server_would_take_is_refused(written: str):
    with pytest.raises(ValueError):
        _params(written)
    assert _params('{"uri": "ui://\\ud83d\\ude00"}') == {"uri": "ui://\U0001f600"}


def test_text_is_read_from_a_list_or_from_the_one_block_of_old_views():
    assert (
        _text([{"type": "text", "text": "a"}, {"type": "image", "data": "x"}, {"type": "text", "text": "b"}])
        == "a\n\nb"
    )
    assert _text({"type": "text", "text": "a"}) == "a"
    assert _text("a") == _text(None) == _text([{"type": "text", "text": 7}]) == ""


def test_a_context_holds_words_and_values_and_has_an_end():
    assert (
        _context({"content": [{"type": "text", "text": "a"}], "structuredContent": {"rows": 3}}) == 'a\n\n{"rows": 3}'
    )
    with pytest.raises(ToolError, match="20,000"):
        _context({"structuredContent": {"a": "x" * 20_000}})


def test_a_view_whose_server_cannot_be_asked_says_so():
    server = McpServer(name="apps", transport=StdioTransport(command="x"))
    assert off_words("apps", ServerState(server, "ready")) == ""
    assert "is off" in off_words("apps", ServerState(server, "off"))
    assert "is not connected" in off_words("apps", ServerState(server, "waiting"))
    assert "is not there any more" in off_words("apps", None)


def test_views_are_told_all_colours_or_a_view_would_mix_ours_with_its_own():
    names = looks()
    kinds = {
        kind: {name for name in names if name.startswith(f"--color-{kind}-")}
        for kind in ("background", "text", "border")
    }
    assert {len(found) for found in kinds.values()} == {10}
    assert len([name for name in names if name.startswith("--color-ring-")]) == 7
