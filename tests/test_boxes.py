"""What a text box's page is told of the values that the app gives it."""

from collections.abc import Iterator

import pytest
from nicegui import ui
from nicegui.client import Client
from nicegui.events import GenericEventArguments
from nicegui.page import page

from app.start.boxes import fill_at_once
from app.ui.shell.reconnection import newest_wins

FILLED = "updateValue"


@pytest.fixture
def box(monkeypatch) -> Iterator[ui.input]:
    """On a page that is there."""
    for name in ("_handle_value_change", "_to_dict"):
        monkeypatch.setattr(ui.input, name, getattr(ui.input, name))
    fill_at_once()
    with Client(page("")) as shown, shown.layout:
        made = ui.textarea(value="first")
    made._to_dict()
    shown.outbox.updates.clear()
    yield made
    shown.delete()


def typed(box: ui.input, text: str) -> None:
    [heard] = [one for one in box._event_listeners.values() if one.type == "update:value"]
    assert heard.handler
    heard.handler(GenericEventArguments(sender=box, client=box.client, args=text))


def test_a_value_is_told_with_the_box_and_the_box_is_filled_with_it_once(box):
    box.value = "second"
    told = box._to_dict()
    assert (told["props"]["value"], told["update_method"]) == ("second", FILLED)
    assert list(box.client.outbox.messages) == []
    assert "update_method" not in box._to_dict()


@pytest.mark.parametrize("text", ["second", "third"])
def test_what_was_typed_since_is_not_replaced(box, text):
    box.value = "second"
    typed(box, text)
    box.props("dense")
    told = box._to_dict()
    assert told["preserved_props"] == ["value"]
    assert "update_method" not in told


def test_a_box_that_was_emptied_unheard_is_emptied_with_what_changed_since(box):
    lost: dict[int, object] = {}
    typed(box, "what was sent")
    box.value = ""
    lost[box.id] = box._to_dict()
    box.client.outbox.messages.append((box.client.id, "update", lost))
    box.props("dense")
    newest_wins(box.client)
    assert lost == {}
    assert box._to_dict()["update_method"] == FILLED
