"""What a file from outside may make of this computer's memory: small as it lies there, it need not be so once read."""

import re
import zipfile
from typing import IO

from app.domain.errors import TooLarge

_TOKENS = re.compile(rb'(?s)"(?:[^"\\]++|\\.)*+"?+|[\[{,]++')
"""A string, or what stands between values."""


def values_in(written: bytes, most: int) -> int:
    """How many values the JSON holds, `most` where there may be more; none of them is made."""
    found = 1
    for token in _TOKENS.finditer(written):
        found += 0 if token[0].startswith(b'"') else len(token[0])
        if found >= most:
            return most
    return found


def check_listing(file: IO[bytes], most: int) -> None:
    """Raises `TooLarge` where the list of what is in the zip file has more bytes than that; it would be read whole."""
    record = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # what `ZipFile` itself goes by
    if record is not None and record[5] > most:
        raise TooLarge(f"This zip file lists more files than fit into {most // 1024**2} MiB. Choose another one.")
