import pytest

from app.ui.elements.markup import Html, icon, joined, tag
from tests.hostile import PAYLOADS


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_breaks_out_of_an_element_or_an_attribute(payload: str) -> None:
    written = tag("span", payload, title=payload, data_action=payload)
    assert written.count("<") == 2
    assert written.count(">") == 2
    assert written.count('"') == 4


def test_markup_inside_markup_stays() -> None:
    assert tag("p", tag("b", "x"), " & y") == "<p><b>x</b> &amp; y</p>"
    assert joined("<", Html("<br>")) == "&lt;<br>"


def test_attributes_that_are_absent_are_not_written() -> None:
    assert tag("i", cls="a b", hidden=True, title=None, disabled=False) == '<i class="a b" hidden></i>'


def test_an_icon_adds_nothing_to_copied_text() -> None:
    assert ">bolt<" not in icon("bolt")
