"""No character hides in what a person decides on, and none turns its neighbours around."""

import json
import sys
import unicodedata

import pytest

from app.domain.tool_settings import McpServer, StdioTransport
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.tools.mcp.states import ToolChange
from app.ui.agents.tool_groups import policy_groups
from app.ui.consent.server_views import changes_view, consent_view
from app.ui.conversation.tool_body import call_body
from app.ui.conversation.tool_card import call_line
from app.ui.elements.markup import Html, tag
from app.ui.elements.visible import titled, visible
from app.ui.schema_form.json import as_json, read_json
from app.ui.tools.user_file_page import hidden_line
from tests.processor import at_work

TURNED = "safe\u202egpj.exe"
TAGS = "hi" + "".join(chr(0xE0000 + ord(letter)) for letter in "rm -rf")
SPEC = ToolSpec(name="evil__run", description="", parameters={}, title="Calculator")


def test_every_control_and_format_character_is_written_out() -> None:
    hidden = [
        chr(point)
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(point) not in "\t\n"
    ]
    assert [one for one in hidden if not visible(one).isascii()] == []
    assert visible("\u202e \u200b \x1b \x7f \U000e0041 \ud800") == r"\u202e \u200b \u001b \u007f \udb40\udc41 \ud800"


@pytest.mark.parametrize("text", ["plain\n\ttext", "Zürich, 東京, שלום", "⚠️ ready ✔️", "🎉", "", "\\u202e"])
def test_what_shows_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_selector_stays_behind_an_emoji_only() -> None:
    assert visible("⚠\ufe0f\ufe0f a\ufe0f \u200b\ufe0f") == r"⚠️\ufe0f a\ufe0f \u200b\ufe0f"


def test_json_stays_the_same_json() -> None:
    value = {TURNED: [TAGS, "\x85", "\\u202e", "⚠️"]}
    assert "\u202e" not in as_json(value) and json.loads(as_json(value)) == read_json(as_json(value)) == value


def test_markup_stays_markup() -> None:
    shown = visible(tag("b", "<i>\u202e"))
    assert isinstance(shown, Html) and shown == r"<b>&lt;i&gt;\u202e</b>"


def test_a_hostile_text_keeps_nobody_waiting() -> None:
    visible("")
    for text in ("\u202e", "a\u202e", "⚠\ufe0f", "\ufe0f"):
        with at_work() as work:
            visible(text * (60_000 // len(text)))
        assert work.seconds < 0.3


def test_a_long_title_does_not_push_away_whose_tool_it_is() -> None:
    assert titled(SPEC, "evil__run", "evil › run") == "Calculator (evil › run)"
    assert titled(None, "add", "") == "add"
    long = SPEC.model_copy(update={"title": "x" * 500})
    assert titled(long, "evil__run", "evil › run").endswith("… (evil › run)")


def test_a_tool_card_hides_nothing() -> None:
    call = CallView("c1", "evil__run", {TURNED: TAGS, "code": "one\n\u202etwo"}, asked_seq=1, label="evil › run")
    for shown in (call_line(call, SPEC), call_body(call)):
        assert "\u202e" not in shown and "\U000e0072" not in shown and r"\u202e" in shown
    assert "Calculator (evil › run)" in call_line(call, SPEC)
    assert r"\u202e" in call_body(CallView("c1", TURNED, {}, asked_seq=1, malformed=TURNED))
    assert r"\u202e" in call_line(CallView("c1", TURNED, {}, asked_seq=1), None)


def test_the_consent_to_a_server_hides_nothing() -> None:
    server = McpServer(name="evil", transport=StdioTransport(command="npx", args=(TURNED,), env={"A\u200b": "1"}))
    changed = SPEC.model_copy(update={"description": TAGS, "title": TURNED})
    for shown in (consent_view(server), changes_view([ToolChange("evil__run", SPEC, changed)])):
        assert "\u202e" not in shown and "\U000e0072" not in shown and r"\u202e" in shown


def test_what_is_allowed_in_an_editor_hides_nothing() -> None:
    (group,) = policy_groups((), [("Files", SPEC.model_copy(update={"title": TURNED, "description": TAGS}))])
    (row,) = group.rows
    assert row.title == r"safe\u202egpj.exe" and row.about.startswith(r"hi\udb40\udc72")


def test_a_tool_file_whose_source_does_not_show_as_it_runs_says_where() -> None:
    assert hidden_line("def f():\n    return 1\n") == ""
    shown = hidden_line("def f():\n    access = 'user\u202e' # \u2066check\n")
    assert "Line 2 does not show as it is" in shown and r"&#x27;user\u202e&#x27;" in shown
