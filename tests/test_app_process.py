"""Ports for what tests start."""

import socket
import sys

import pytest

from tests.app_process import free_port


@pytest.mark.skipif(sys.platform != "linux", reason="Elsewhere a port that is kept cannot be listened at.")
def test_a_free_port_is_given_to_nobody_else_and_can_be_listened_at():
    port = free_port()
    with pytest.raises(OSError, match="in use"), socket.socket() as another:
        another.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
