"""The tools that the app brings along, without an app."""

from app.domain.settings import Preferences
from app.tools.built_in import BuiltInTools
from app.tools.registry import Registry


def builtin_registry() -> Registry:
    """All of them, without anybody's settings; close it to end the processes they started."""
    return Registry((), sources=(BuiltInTools(Preferences),))
