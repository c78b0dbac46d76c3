"""Why a server could not be reached, in words that a person can do something about."""

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit


def unreached(error: BaseException, url: str) -> str:
    """What kept the request from that address; empty where the error tells of nothing known."""
    place = urlsplit(url).netloc.rpartition("@")[2]
    for cause in _causes(error):
        match cause:
            case socket.gaierror():
                host = urlsplit(url).hostname or place
                return f"No address is known for {host}. Is this computer connected to the network?"
            case ssl.SSLCertVerificationError():
                return f"The certificate of {place} is not trusted by this computer: {cause.verify_message}."
            case ConnectionRefusedError():
                return f"Nothing answers at {place}. Is the server started, and the address right?"
            case _:
                pass
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, also where several were tried at once."""
    pending: list[BaseException] = [error]
    seen: set[int] = set()
    while pending:
        current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions
        pending += [cause for cause in (current.__cause__, current.__context__) if cause is not None]
