"""Attachments in words and as they are shown in messages."""

import pytest

from app.domain.messages import Attachment, FilePart, ImagePart
from app.domain.tools import ToolSpec
from app.ui.components.attached import attached
from app.ui.components.attachment_words import attachment_words

IMAGE = ImagePart(artifact="1" * 64, media_type="image/png", alt="cat.png", path="/cat.png")
TABLE = FilePart(artifact="2" * 64, media_type="text/csv", filename="t.csv", size=3, path="/t.csv")
LISTER = ToolSpec(name="list_files", title="List files", description="", parameters={})
READER = ToolSpec(name="csv", title="Read CSV", description="", parameters={}, handles=("text/*",))


@pytest.mark.parametrize(
    ("part", "tools", "sees_images", "text", "warns"),
    [
        (IMAGE, (), True, "Sent inline: the model sees it", False),
        (IMAGE, (LISTER,), False, "This model sees no images. As file /cat.png for the agent's tools", True),
        (TABLE, (LISTER,), True, "As file /t.csv for the agent's tools", False),
        (TABLE, (LISTER, READER), False, "As file /t.csv, which Read CSV can open", False),
        (TABLE, (), True, "Its name only: this agent has no tool to open it", True),
    ],
)
def test_it_is_said_how_an_attachment_reaches_the_model(
    part: Attachment, tools: tuple[ToolSpec, ...], sees_images: bool, text: str, warns: bool
) -> None:
    words = attachment_words(part, tools, sees_images=sees_images)
    assert (words.text, words.warns) == (text, warns)


def test_a_message_shows_pictures_and_files_in_their_order() -> None:
    shown = attached((TABLE, IMAGE))
    assert shown.index("t.csv") < shown.index(f'<img src="/artifacts/{"1" * 64}" alt="cat.png"')
    assert f'href="/artifacts/{"2" * 64}?name=t.csv"' in shown
    assert attached(()) == ""


def test_hostile_names_stay_text_and_only_known_pictures_are_shown() -> None:
    name = '"><script>alert(1)</script>'
    drawing = ImagePart(artifact="javascript:alert(1)", media_type="image/svg+xml", alt=name)
    shown = attached((drawing, FilePart(artifact="../x", media_type=name, filename=name, size=1)))
    assert "<img" not in shown
    assert "<script" not in shown
    assert 'href="/artifacts/javascript%3Aalert%281%29?' in shown
    assert 'href="/artifacts/..%2Fx?' in shown
