"""How long pictures take that are made smaller before they are sent, and how long the event loop waits meanwhile."""

import asyncio
import hashlib
import io
import time

from PIL import Image

from app.llm.attachments.pictures import EDGE, Pictures, scaled
from tests.figures import Figure

BAR_SECONDS = 1.5
BAR_LAG_MS = 50


async def run(*, width: int = 4000, several: int = 4) -> list[Figure]:
    photo = _photo(width, width * 3 // 4)
    scaled(photo, EDGE)  # which imports Pillow
    began = time.perf_counter()
    scaled(photo, EDGE)
    seconds = time.perf_counter() - began
    lag = await _lag_meanwhile(photo, several)
    size = f"a photo of {width * width * 3 // 4 / 1e6:.0f} million pixels"
    return [
        Figure(f"{size} made smaller", f"{seconds:.2f} s", f"<= {BAR_SECONDS} s", seconds <= BAR_SECONDS),
        Figure(
            f"longest the loop waited while {several} were", f"{lag:.0f} ms", f"< {BAR_LAG_MS} ms", lag < BAR_LAG_MS
        ),
    ]


async def _lag_meanwhile(photo: bytes, several: int) -> float:
    """Milliseconds."""
    pictures, longest = Pictures(), 0.0
    work = asyncio.gather(*(pictures.sent(hashlib.sha256(bytes([n])).hexdigest(), photo, EDGE) for n in range(several)))
    while not work.done():
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        longest = max(longest, time.perf_counter() - before - 0.005)
    await work
    return longest * 1000


def _photo(width: int, height: int) -> bytes:
    shades = [Image.effect_noise((width // 8, height // 8), 80).resize((width, height)) for _ in range(3)]
    file = io.BytesIO()
    Image.merge("RGB", shades).save(file, "JPEG", quality=92)
    return file.getvalue()
