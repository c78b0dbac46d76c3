"""The app, telling of each address it connects to or looks up that is not this computer's own."""

import sys

from app.__main__ import main

OWN = ("127.0.0.1", "::1", "localhost", None)


def watch(event: str, arguments: tuple) -> None:
    if event == "socket.connect":
        place = arguments[1]
        host = place[0] if isinstance(place, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.gethostbyname", "socket.sendto"):
        host = arguments[-1] if isinstance(arguments[-1], str) else arguments[-1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in OWN:
        print(f"ASKED {event} {host}", flush=True)


if __name__ == "__main__":
    sys.addaudithook(watch)
    sys.exit(main())
