"""The tools that the app brings along: one file per tool or kit."""

from app.tools.builtin.calculator import calculator
from app.tools.builtin.execute_python import PythonTool
from app.tools.builtin.files import file_tools
from app.tools.registry import Registry


def builtin_registry() -> Registry:
    """All built-in tools; close it to end the processes they started."""
    python = PythonTool()
    return Registry([calculator, *file_tools(), python.tool()], close=python.close)
