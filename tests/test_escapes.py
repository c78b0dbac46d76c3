"""What is on a page is escaped as NiceGUI does it, and sooner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import client, core, ui
from nicegui.app.app_config import AppConfig
from nicegui.client import HTML_ESCAPE_TABLE, Client
from nicegui.page import page
from starlette.requests import Request

from app.start.escapes import Escapable, escape_quickly
from tests.processor import at_work

LONG = "<li>& `$x`</li>\n" * 40_000
"""640,000 characters of a model's answer."""


@given(st.text(alphabet='&<>`$;amplgt#ก\U0001f9ea\n"\\', max_size=200))
def test_text_is_escaped_as_before(text: str):
    assert Escapable(text).translate(HTML_ESCAPE_TABLE) == text.translate(HTML_ESCAPE_TABLE)


def written(text: str) -> tuple[str, float]:
    """A page with that text on it, and the seconds of processor time it took to write."""
    with Client(page("")) as shown, shown.layout:
        ui.label(text)
    request = Request({"type": "http", "headers": [], "query_string": b"", "path": "/"})
    with at_work() as work:
        body = bytes(shown.build_response(request).body).decode()
    shown.delete()
    return body, work.seconds


@pytest.fixture
def as_before(monkeypatch):
    """NiceGUI as it is without the app, told how it runs."""
    config = AppConfig()
    config.add_run_config(
        reload=False,
        title="",
        viewport="",
        favicon=None,
        dark=None,
        language=None,
        binding_refresh_interval=None,
        reconnect_timeout=0,
        message_history_length=0,
        tailwind=False,
        unocss=None,
        prod_js=True,
        show_welcome_message=False,
        markdown=False,
    )
    monkeypatch.setattr(core.app, "config", config)
    monkeypatch.setitem(vars(client), "json", client.json)


def test_a_page_with_a_long_answer_says_the_same_and_is_written_in_half_the_time(as_before):
    escaped = client.json.dumps(LONG).translate(HTML_ESCAPE_TABLE)
    written("")  # what is read for the first of them takes its time too
    before, slow = written(LONG)
    assert escaped in before
    escape_quickly()
    after, quick = written(LONG)
    assert escaped in after
    assert len(after) == len(before)
    assert quick < slow / 2
