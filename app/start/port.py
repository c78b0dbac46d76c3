"""The app's port: listened at from when it is chosen on, so that no other program can take it before it is served."""

import contextlib
import os
import socket
from errno import EADDRINUSE

from app.api.door.security import HOST
from app.domain.errors import WorkbenchError

FIRST_PORT = 8765


def open_port(wanted: int | None) -> socket.socket:
    """Listens at the port asked for, or at the first free one from 8765 on; who is faster than the server waits there.

    Raises `WorkbenchError` when there is none.
    """
    if wanted is not None:
        return _asked_for(wanted)
    for port in range(FIRST_PORT, FIRST_PORT + 200):
        with contextlib.suppress(OSError):
            return _listening(port)
    raise WorkbenchError(f"No port from {FIRST_PORT} to {FIRST_PORT + 199} is free. Choose one with --port.")


def _asked_for(port: int) -> socket.socket:
    try:
        return _listening(port)
    except OSError as refusal:
        in_use = refusal.errno == EADDRINUSE
        why = "is in use by another program" if in_use else f"cannot be used: {refusal.strerror}"
        raise WorkbenchError(f"Port {port} {why}. Choose another one with --port.") from refusal


def _listening(port: int) -> socket.socket:
    made = socket.socket()
    try:
        if os.name == "posix":  # elsewhere it would let others take the port over
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen()  # Linux lets others bind to a port where nobody listens yet
    except OSError:
        made.close()
        raise
    return made
