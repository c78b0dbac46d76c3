"""The tools that the app brings along, without an app."""

import os

from app.domain.settings import Preferences
from app.tools.builtin.execute_python import PythonTool
from app.tools.builtin.listed import builtin_tools
from app.tools.registry import Registry


def builtin_registry() -> Registry:
    """All of them, without anybody's settings; close it to end the processes they started."""
    python = PythonTool()
    return Registry(builtin_tools(python, Preferences, lambda: os.environ), close=python.close)
