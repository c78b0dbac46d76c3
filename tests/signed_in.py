"""Browsers of tests that are signed in, without having been shown the printed address."""

import json
import tempfile
import time
from pathlib import Path

from app.domain.keys import secret_digest
from app.store.keys.sign_ins import FILE, SignIns

BROWSER = "ap_the-id-of-the-browser-of-tests-0123456789"
"""What its cookie holds."""


def one_browser() -> SignIns:
    """That one is signed in."""
    with tempfile.TemporaryDirectory() as folder:
        return SignIns(sign_in(Path(folder)))


def sign_in(folder: Path) -> Path:
    """Have the app of that data folder, which does not run, find that browser signed in; gives the file."""
    file = folder / FILE
    file.write_text(json.dumps({secret_digest(BROWSER): time.time()}))
    return file
