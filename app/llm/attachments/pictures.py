"""Pictures as they are sent: upright, without what a camera wrote into them, and no larger than models look at.

One at a time in a thread of its own, since a large one takes half a second and a hundred megabytes. The original is
not touched.
"""

import asyncio
import importlib
import io
import warnings
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from tempfile import TemporaryFile
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

EDGE, DETAILED_EDGE = 1568, 2000
"""Pixels of the longer side at most: what Claude looks at, and what it takes where there are many pictures."""
MOST_PIXELS = 50_000_000
"""Of a picture that is opened at all."""
LARGEST = 3_750_000
"""Bytes of one that is sent, if that can be: Bedrock's bound, and below Anthropic's in base64."""
QUALITY = 85
FEW_COLOURS = 256
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_REMEMBERED = 48 * 1024**2
_HARMLESS = frozenset(
    {
        *("jfif", "jfif_version", "jfif_unit", "jfif_density", "adobe", "adobe_transform", "dpi", "icc_profile"),
        *("gamma", "srgb", "chromaticity", "interlace", "transparency", "background", "version", "duration", "loop"),
        *("progressive", "progression", "aspect", "extension", "timestamp"),
    }
)
"""What may be known of a picture that is sent as it is."""


class NotShown(Exception):
    """The picture cannot be sent; the message says why, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is sent."""

    content: bytes
    media_type: str
    width: int
    height: int


class Pictures:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "pictures")
        self._known: OrderedDict[tuple[str, int], Picture] = OrderedDict()

    async def sent(self, digest: str, content: bytes, edge: int) -> Picture:
        """The picture with that sha256 as it is sent, `edge` pixels at most; raises `NotShown`."""
        if (known := self.known(digest, edge)) is not None:
            return known
        picture = await asyncio.get_running_loop().run_in_executor(self._thread, scaled, content, edge)
        self._known[digest, edge] = picture
        while sum(len(one.content) for one in self._known.values()) > _REMEMBERED and len(self._known) > 1:
            self._known.popitem(last=False)
        return picture

    def known(self, digest: str, edge: int) -> Picture | None:
        """The same where it was made not long ago, without its content."""
        if (digest, edge) in self._known:
            self._known.move_to_end((digest, edge))
        return self._known.get((digest, edge))


def scaled(content: bytes, edge: int) -> Picture:
    """The picture as it is sent; takes up to a second. Raises `NotShown`."""
    library = _pillow()
    try:
        with library.open(io.BytesIO(content), formats=FORMATS) as image:
            return _as_it_is(image, content, edge) or _made(image, edge)
    except (library.DecompressionBombError, library.DecompressionBombWarning) as error:
        raise NotShown(f"it has more than the {MOST_PIXELS // 10**6} million pixels that are opened") from error
    except Exception as error:
        raise NotShown(f"it cannot be read as a picture ({type(error).__name__})") from error


def _pillow() -> ModuleType:
    library = importlib.import_module("PIL.Image")  # 20 ms, in the pictures' thread
    importlib.import_module("PIL.WebPImagePlugin")  # or the first one of these would read the plugins of all formats
    vars(library)["MAX_IMAGE_PIXELS"] = MOST_PIXELS
    warnings.simplefilter("error", library.DecompressionBombWarning)  # below twice as many it would only warn
    return library


def _as_it_is(image: "Image", content: bytes, edge: int) -> Picture | None:
    """The content itself, where there is nothing to change about it."""
    fits = max(image.size) <= edge and len(content) <= LARGEST and not getattr(image, "is_animated", False)
    if not fits or image.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
        return None
    media_type = f"image/{(image.format or '').lower()}"
    width, height = image.size
    image.load()  # what follows the pixels is known only then, and that they are all there
    if image.getexif() or not set(image.info) <= _HARMLESS:
        return None
    return Picture(content, media_type, width, height)


def _made(image: "Image", edge: int) -> Picture:
    """Turned upright, made smaller, and written anew without all that was written beside its pixels."""
    operations, is_exact = importlib.import_module("PIL.ImageOps"), image.format != "JPEG"
    profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA", "P") else None  # it is of these colours
    image.draft("RGB", (edge, edge))
    image.seek(0)
    if image.mode.startswith("I"):  # 16 bits each
        image = image.point(lambda shade: shade / 256).convert("L")
    if image.mode not in ("RGB", "RGBA"):
        image = image.convert("RGBA" if _may_be_seen_through(image) else "RGB")
    image.thumbnail((edge, edge), reducing_gap=2)
    upright = operations.exif_transpose(image)
    if upright.mode == "RGBA" and upright.getchannel("A").getextrema()[0] == 255:
        upright = upright.convert("RGB")
    return _written(upright, profile, is_exact=is_exact)


def _may_be_seen_through(image: "Image") -> bool:
    return "transparency" in image.info or image.mode in ("LA", "PA", "La", "RGBa")


def _written(image: "Image", profile: bytes | None, *, is_exact: bool) -> Picture:
    """As PNG where it can be seen through, or has few colours and is smaller so; else, on white, as JPEG."""
    clear = image.mode == "RGBA"
    few = is_exact and image.getcolors(FEW_COLOURS) is not None
    exact = _saved(image, "PNG", profile) if clear or few else b""
    if clear and len(exact) <= LARGEST:
        return Picture(exact, "image/png", *image.size)
    if clear:
        ground = _pillow().new("RGB", image.size, "white")
        ground.paste(image, mask=image.getchannel("A"))
        image = ground
    photo = _saved(image, "JPEG", profile)
    if few and len(exact) <= len(photo):
        return Picture(exact, "image/png", *image.size)
    return Picture(photo, "image/jpeg", *image.size)


def _saved(image: "Image", kind: str, profile: bytes | None) -> bytes:
    image.info.clear()
    with TemporaryFile() as file:  # into a file of the system it writes without holding up other threads
        image.save(file, kind, quality=QUALITY, icc_profile=profile)
        file.seek(0)
        return file.read()
