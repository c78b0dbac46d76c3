"""The certificates that this computer believes in, also the authority of a company."""

import functools
import ssl


@functools.cache
def usual_trust() -> ssl.SSLContext:
    """What connections of tools are checked against; reading it takes tens of milliseconds."""
    import truststore  # noqa: PLC0415  no start asks anybody anything

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
