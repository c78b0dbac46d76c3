"""Pictures as they are sent: upright, small enough, without what was written beside their pixels."""

import asyncio
import io
import re
import threading

import pytest
from PIL import Image, PngImagePlugin

from app.llm.attachments.pictures import EDGE, LARGEST, NotShown, Picture, Pictures, scaled
from tests.llm.sending import picture


def opened(shown: Picture) -> Image.Image:
    image = Image.open(io.BytesIO(shown.content))
    assert (image.size, f"image/{(image.format or '').lower()}") == ((shown.width, shown.height), shown.media_type)
    return image


def saved(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def huge(side: int) -> bytes:
    return saved(Image.new("1", (side, side)))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_one_with_nothing_to_change_stays_as_it_is(kind: str):
    content = picture((60, 40), kind)
    assert scaled(content, EDGE).content == content


@pytest.mark.parametrize(
    ("turned", "size"), [(1, (60, 30)), (2, (60, 30)), (3, (60, 30)), (5, (30, 60)), (6, (30, 60)), (8, (30, 60))]
)
def test_it_is_turned_as_its_camera_says(turned: int, size: tuple[int, int]):
    image = Image.new("RGB", (60, 30), "white")
    image.paste("red", (0, 0, 10, 10))
    written = Image.Exif()
    written[0x0112] = turned
    shown = opened(scaled(saved(image, "PNG", exif=written), EDGE))
    assert shown.size == size and not shown.getexif()
    corners = {1: (0, 0), 2: (59, 0), 3: (59, 29), 5: (0, 0), 6: (29, 0), 8: (0, 59)}
    assert shown.convert("RGB").getpixel(corners[turned]) == (255, 0, 0)


def test_what_is_written_into_it_is_left_out():
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Author", "Somebody at home")
    content = saved(Image.new("RGB", (9, 9)), pnginfo=notes)
    assert b"Somebody" in content and b"Somebody" not in scaled(content, EDGE).content


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_photo_becomes_a_small_jpeg_whatever_its_colours(mode: str):
    shown = scaled(picture((2000, 1000), "JPEG", mode=mode), EDGE)
    assert (shown.width, shown.height) == (1568, 784) and len(shown.content) <= LARGEST
    assert opened(shown).mode == "RGB" and shown.media_type == "image/jpeg"


def test_few_colours_and_what_can_be_seen_through_stay_exact():
    drawing = Image.new("RGB", (3000, 200), "white")
    drawing.paste("blue", (0, 0, 1500, 200))
    assert scaled(saved(drawing), EDGE).media_type == "image/png"
    clear = Image.new("RGBA", (2000, 100), (255, 0, 0, 100))
    assert opened(scaled(saved(clear), EDGE)).mode == "RGBA"
    solid = Image.effect_noise((2000, 900), 60).convert("RGBA")
    assert scaled(saved(solid), EDGE).media_type == "image/jpeg"


def test_one_too_large_to_be_seen_through_stands_on_white():
    noise = [Image.effect_noise((1500, 1500), 90) for _ in range(4)]
    shown = scaled(saved(Image.merge("RGBA", noise)), EDGE)
    assert shown.media_type == "image/jpeg" and len(shown.content) <= LARGEST


def test_of_one_that_moves_the_first_picture_is_sent():
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    shown = opened(scaled(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]), EDGE))
    assert shown.convert("RGB").getpixel((3, 3)) == (255, 0, 0) and not getattr(shown, "is_animated", False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (huge(7072), "it has more than the 50 million pixels that are opened"),
        (huge(10_001), "it has more than the 50 million pixels that are opened"),
        (picture((400, 400), "JPEG")[:2000], "it cannot be read as a picture"),
        (b"BM" + bytes(60), "it cannot be read as a picture"),
        (b"II*\0" + bytes(60), "it cannot be read as a picture"),
        (b"", "it cannot be read as a picture"),
    ],
)
def test_what_cannot_be_opened_says_so(content: bytes, words: str):
    with pytest.raises(NotShown, match=re.escape(words)):
        scaled(content, EDGE)


async def test_they_are_made_one_at_a_time_beside_the_loop_and_remembered():
    pictures, content = Pictures(), picture((3000, 2000), "JPEG")
    both = [asyncio.create_task(pictures.sent(str(number), content, EDGE)) for number in range(2)]
    working = 0
    while not all(task.done() for task in both):
        working = max(working, sum(thread.name.startswith("pictures") for thread in threading.enumerate()))
        await asyncio.sleep(0)
    assert working == 1
    assert await pictures.sent("0", b"not read again", EDGE) is both[0].result()
    assert pictures.known("0", EDGE) is both[0].result() and pictures.known("2", EDGE) is None
