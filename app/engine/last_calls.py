"""What was last typed and called by hand, tool by tool, while the app runs."""

from collections.abc import Mapping

from pydantic import JsonValue

from app.engine.by_hand import HandCall, HandCalls


class LastCalls:
    def __init__(self, calls: HandCalls) -> None:
        self._calls = calls
        self._arguments: dict[str, dict[str, JsonValue]] = {}
        self._called: dict[str, str] = {}

    def arguments(self, tool: str) -> dict[str, JsonValue] | None:
        """What stood in the tool's form last, `None` when nobody typed anything."""
        return self._arguments.get(tool)

    def keep(self, tool: str, arguments: Mapping[str, JsonValue]) -> None:
        self._arguments[tool] = dict(arguments)

    def forget(self, tool: str) -> None:
        """Let the form begin with the defaults again."""
        self._arguments.pop(tool, None)

    def start(self, tool: str, arguments: Mapping[str, JsonValue]) -> HandCall:
        """Call the tool by hand, and remember it."""
        self.keep(tool, arguments)
        call = self._calls.start(tool, arguments)
        self._called[tool] = call.call_id
        return call

    def of(self, tool: str) -> HandCall | None:
        """The tool's last call, as long as it is kept."""
        return self._calls.get(self._called.get(tool, ""))
