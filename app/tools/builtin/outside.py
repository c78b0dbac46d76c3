"""The tools that reach beyond a session: into the web."""

from collections.abc import Callable, Mapping

from app.domain.settings import Preferences
from app.tools.builtin.http_get import HttpGet
from app.tools.builtin.web_search import Search
from app.tools.function.tool import AnyTool


def web_tools(
    preferences: Callable[[], Preferences], environment: Callable[[], Mapping[str, str]]
) -> tuple[AnyTool, ...]:
    """`http_get` and `web_search`, which look up settings and keys anew for each call."""
    return (HttpGet(preferences).tool(), Search(preferences, environment).tool())
