"""Names that others give to files, in letters that every system, export and path of a session takes."""

import re
import unicodedata
from pathlib import PurePosixPath

LONGEST_FILE_NAME = 100
"""Characters of a file name."""
_ODD = re.compile(r"[^\w .()+@,&=-]")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
"""What Windows takes for a device, wherever such a file is exported to."""


def plain_file_name(name: str) -> str:
    """What a file of the name is called here: the last step of a path, "file" where nothing of it can be kept."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = _ODD.sub(_replaced, unicodedata.normalize("NFKC", last)).strip(" .")
    if _DEVICE.fullmatch(clean.partition(".")[0].rstrip()):
        clean = f"file-{clean}"
    return _shortened(clean) or "file"


def _replaced(odd: re.Match[str]) -> str:
    """Marks stay, without which Hindi and Thai are no words; but for those that are not seen, as behind an emoji."""
    is_mark = unicodedata.category(odd[0]) in ("Mc", "Mn") and not "\ufe00" <= odd[0] <= "\ufe0f"
    return odd[0] if is_mark else "_"


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_FILE_NAME:
        return name
    suffix = PurePosixPath(name).suffix[:20]
    return name[: LONGEST_FILE_NAME - len(suffix)].rstrip(" .") + suffix
