"""Which certificates are believed, and who issued one: where the system verifies, Python does not take it apart."""

import functools
import ssl
from collections.abc import Iterator

_SEQUENCE = 0x30
_NAMES = {bytes.fromhex("55040a"): "organisation", bytes.fromhex("550403"): "name"}
"""The object identifiers 2.5.4.10 and 2.5.4.3."""


@functools.cache
def trusted() -> ssl.SSLContext:
    """What this computer trusts, also the authority of a company; reading it takes tens of milliseconds."""
    import truststore  # noqa: PLC0415  no start asks anybody anything

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def issuer_of(certificate: bytes) -> str:
    """Its issuer in words, `Let's Encrypt (R11)`; empty where it cannot be read (RFC 5280, 4.1)."""
    try:
        names = dict(_names(_issuer(certificate)))
    except (IndexError, StopIteration, ValueError):
        return ""
    organisation, name = names.get("organisation", ""), names.get("name", "")
    return f"{organisation} ({name})" if organisation and name else organisation or name


def _issuer(certificate: bytes) -> bytes:
    whole = next(_values(certificate))[1]
    signed = next(_values(whole))[1]
    fields = [value for kind, value in _values(signed) if kind == _SEQUENCE]
    return fields[1]  # behind the signature's algorithm


def _names(issuer: bytes) -> Iterator[tuple[str, str]]:
    for _, group in _values(issuer):
        for _, pair in _values(group):
            (_, identifier), (_, text) = _values(pair)
            if identifier in _NAMES:
                yield _NAMES[identifier], text.decode("utf-8", "replace")


def _values(encoded: bytes) -> Iterator[tuple[int, bytes]]:
    """The kinds and contents that stand behind one another."""
    place = 0
    while place < len(encoded):
        kind, length, place = encoded[place], encoded[place + 1], place + 2
        if length >= 0x80:
            digits = length & 0x7F
            length, place = int.from_bytes(encoded[place : place + digits]), place + digits
        if place + length > len(encoded):
            raise ValueError("The certificate is cut off")
        yield kind, encoded[place : place + length]
        place += length
