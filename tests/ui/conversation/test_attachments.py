"""Attachments in words and as they are shown in messages."""

from pathlib import Path

import pytest

from app.domain.messages import Attachment, FilePart, ImagePart, SentAttachment
from app.domain.tools import ToolSpec
from app.llm.attachments.routes import Asked
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import Contents
from app.ui.conversation.attached import attached
from app.ui.conversation.attachments import Words, attachment_words, choices_of, in_all

IMAGE = ImagePart(artifact="1" * 64, media_type="image/png", alt="cat.png", path="/cat.png")
TABLE = FilePart(artifact="2" * 64, media_type="text/csv", filename="t.csv", size=3, path="/t.csv")
LISTER = ToolSpec(name="list_files", title="List files", description="", parameters={})
NOBODY = "but no tool of this agent says that it opens"
READER = ToolSpec(name="csv", title="Read CSV", description="", parameters={}, handles=("text/*",))


def fact(part: Attachment, how: str = "reference", why: str = "", **more: object) -> SentAttachment:
    facts = {"artifact": part.artifact, "name": part.name, "how": how, "why": why, **more}
    return SentAttachment.model_validate(facts)


@pytest.mark.parametrize(
    ("sent", "part", "tools", "text", "warns"),
    [
        (
            fact(IMAGE, "inline", width=1568, height=1045, size=212_000, media_type="image/jpeg"),
            *(IMAGE, (), "Sent inline: 1,568 × 1,045 px, 212.0 kB", False),
        ),
        (
            fact(IMAGE, why="this model sees no pictures"),
            *(IMAGE, (LISTER,), f"This model sees no pictures. As file /cat.png, {NOBODY} PNG files", True),
        ),
        (fact(TABLE), TABLE, (LISTER,), f"As file /t.csv, {NOBODY} CSV files", True),
        (fact(TABLE), TABLE, (LISTER, READER), "As file /t.csv, which Read CSV can open", False),
        (fact(TABLE), TABLE, (), "Its name only: this agent has no tool to open it", True),
        (
            fact(TABLE, "inline", media_type="text/plain", size=3),
            *(TABLE, (READER,), "Copied into the message: 3 bytes", False),
        ),
        (fact(TABLE, "native", size=3), TABLE, (), "Uploaded to the provider: 3 bytes", False),
    ],
)
def test_it_is_said_how_an_attachment_reaches_the_model(
    sent: SentAttachment, part: Attachment, tools: tuple[ToolSpec, ...], text: str, warns: bool
) -> None:
    words = attachment_words(part, sent, tools)
    assert (words.text, words.warns) == (text, warns)


def test_a_tool_that_could_open_it_is_offered_but_none_that_changes_things() -> None:
    writer = READER.model_copy(update={"name": "writer", "side_effects": True})
    words = attachment_words(TABLE, fact(TABLE), (LISTER,), (writer, LISTER, READER))
    assert (words.tool, words.title, words.warns) == ("csv", "Read CSV", True)
    assert attachment_words(TABLE, fact(TABLE), (LISTER,), (writer,)).tool == ""
    assert attachment_words(TABLE, fact(TABLE), (READER,), (READER,)).tool == ""


def test_the_ways_that_can_be_chosen_are_those_of_its_model_and_its_tools() -> None:
    def values(provider: str, part: Attachment = TABLE) -> list[str]:
        asked = Asked(provider, "model", None, (LISTER, READER), {}, "s1", may_keep=False)
        return [choice.value for choice in choices_of(part, asked)]

    assert values("ollama") == ["auto", "inline", "reference", "tool:csv", "tool:list_files"]
    assert values("gemini") == ["auto", "inline", "reference", "native", "tool:csv", "tool:list_files"]
    gone = TABLE.model_copy(update={"disposition": "tool:gone"})
    assert values("ollama", gone)[-1] == "tool:gone"


def test_a_message_shows_pictures_and_files_in_their_order(tmp_path: Path) -> None:
    contents = Contents(Artifacts(tmp_path), lambda: "http://127.0.0.1:9")
    shown = attached((TABLE, IMAGE), contents)
    assert shown.index("t.csv") < shown.index(f'<img src="{contents.picture("1" * 64)}" alt="cat.png"')
    assert f'<a href="{contents.download("2" * 64, "t.csv")}"' in shown
    assert shown.count("http://127.0.0.1:9/") == 2
    assert attached((), contents) == ""
    seen = fact(IMAGE, "inline", width=60, height=40, size=1500, media_type="image/png")
    told = attached((TABLE, IMAGE), contents, (seen, fact(TABLE, why="Ollama takes no tables")))
    assert "Sent inline: 60 × 40 px, 1.5 kB" in told and "A file of the session: Ollama takes no tables" in told


def test_hostile_names_stay_text_and_only_known_pictures_are_shown(tmp_path: Path) -> None:
    name = '"><script>alert(1)</script>'
    drawing = ImagePart(artifact="javascript:alert(1)", media_type="image/svg+xml", alt=name)
    file = FilePart(artifact="../x", media_type=name, filename=name, size=1)
    shown = attached((drawing, file), Contents(Artifacts(tmp_path)))
    assert "<img" not in shown
    assert "<script" not in shown
    assert "/javascript%3Aalert%281%29?" in shown
    assert "/..%2Fx?script%3E" in shown


def test_a_file_that_goes_to_several_columns_is_told_of_by_letter_where_they_differ() -> None:
    same, other = Words("As file /t.csv"), Words("Its name only", warns=True, tool="csv", title="Read CSV")
    assert in_all([other]) == other
    assert in_all([same, same]) == same
    assert in_all([same, None, other]) == Words("A: As file /t.csv. C: Its name only.", warns=True)
    assert in_all([None, None]) is None
