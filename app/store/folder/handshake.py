"""How a second start knows that what answers on a port is this app over this data folder.

It sends a random challenge, and gets it back signed with the token of the folder: whoever else listens there learns
nothing, and can prove nothing. The folder itself is signed too, as a copy of it has the same token.
"""

import hashlib
import hmac
import http.client
import json
import secrets
from pathlib import Path
from typing import Literal

from app.store.folder.lock import Announcement

ANSWER_SECONDS = 2.0

Found = Literal["ours", "another", "silent", "nobody"]
"""What is on the port: this app, another program, one that takes a call and says nothing, or nothing at all."""


def proof(token: str, folder: Path, challenge: str) -> str:
    """What only an app with that token over that folder can answer to the challenge."""
    place = folder.stat()
    said = f"agent-playground {place.st_dev} {place.st_ino} {challenge}"
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


def found_at(announcement: Announcement, folder: Path, *, seconds: float = ANSWER_SECONDS) -> Found:
    """Ask the port of the announcement who is there."""
    challenge = secrets.token_hex(16)
    # Not urllib: it would ask through a proxy, if one is set.
    connection = http.client.HTTPConnection("127.0.0.1", announcement.port, timeout=seconds)
    try:
        connection.request("GET", f"/health?challenge={challenge}")
        answer = connection.getresponse().read(10_000)
    except TimeoutError:
        return "silent"
    except ConnectionError:
        return "nobody"
    except (OSError, http.client.HTTPException):
        return "another"
    finally:
        connection.close()
    expected = proof(announcement.token, folder, challenge)
    return "ours" if hmac.compare_digest(_proof_in(answer).encode(), expected.encode()) else "another"


def _proof_in(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["proof"])
    except (ValueError, TypeError, KeyError):
        return ""
