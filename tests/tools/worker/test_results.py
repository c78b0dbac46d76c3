"""What tools return, as the parts that the app keeps."""

from dataclasses import dataclass
from datetime import date
from enum import Enum

import pytest
from pydantic import BaseModel

from app.domain.errors import ToolError
from app.domain.messages import TextPart
from app.tools.function.authoring import File, Image
from app.tools.worker.protocol import LONGEST_RESULT, KeptFile
from app.tools.worker.results import result_parts

PNG = b"\x89PNG\r\n\x1a\n"


class Colour(Enum):
    RED = "red"


class Model(BaseModel):
    day: date


@dataclass
class Point:
    x: int


def keep(content: bytes, media_type: str, filename: str) -> KeptFile:
    return KeptFile(content=len(content), media_type=media_type, filename=filename)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("so", "so"),
        (None, "(nothing returned)"),
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        (Point(3), '{"x":3}'),
        (Model(day=date(2024, 3, 5)), '{"day":"2024-03-05"}'),
        ((Colour.RED, {1}), '["red",[1]]'),
        ("\ud800", "?"),
    ],
)
def test_values_become_text_or_json(value, text):
    assert result_parts(value, keep) == (TextPart(text=text),)


@pytest.mark.parametrize(
    ("value", "media_type", "filename"),
    [
        (PNG, "image/png", "result.png"),
        (b"\x00", "application/octet-stream", "result.bin"),
        (File(b"a,b", "table.csv"), "text/csv", "table.csv"),
        (File(b"x", "odd", media_type="text/odd"), "text/odd", "odd"),
        (Image(PNG, alt="a chart"), "image/png", "a chart"),
    ],
)
def test_bytes_files_and_images_are_kept(value, media_type, filename):
    [part] = result_parts(value, keep)
    assert part == keep(b"." * part.content, media_type, filename)


def test_a_list_with_files_in_it_becomes_parts_in_order():
    parts = result_parts(["here", File(b"1", "a.txt"), {"n": 1}], keep)
    assert [part.type for part in parts] == ["text", "kept", "text"]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (object(), "object"),
        ({"a": object()}, "object"),
        ((n for n in range(3)), "generator"),
        (Image(b"no picture"), "Image"),
        ("x" * (LONGEST_RESULT + 1), f"{LONGEST_RESULT + 1:,} characters"),
        (["x" * 1000] * 5000, "characters"),
    ],
    ids=["object", "inside", "generator", "image", "text", "list"],
)
def test_what_cannot_be_told_is_named(value, named):
    with pytest.raises(ToolError, match=named):
        result_parts(value, keep)
