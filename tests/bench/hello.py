"""The smallest NiceGUI app, started the way ours is: what every start is measured against."""

import os
import sys

os.environ.setdefault("MATPLOTLIB", "false")

from nicegui import ui


def page() -> None:
    ui.label("Hello")


if __name__ == "__main__":
    ui.run(
        page,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        title="Hello",
        dark=None,
        reload=False,
        show=False,
        show_welcome_message=False,
        reconnect_timeout=30,
        binding_refresh_interval=None,
    )
