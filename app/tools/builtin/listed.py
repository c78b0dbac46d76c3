"""All built-in tools together."""

from collections.abc import Callable, Mapping

from app.domain.settings import Preferences
from app.tools.apart import ToolApart
from app.tools.builtin.calculator import calculator
from app.tools.builtin.data_transform.kit import data_transform_tools
from app.tools.builtin.date_utils.kit import date_utils_tools
from app.tools.builtin.execute_python import PythonTool
from app.tools.builtin.files import file_tools
from app.tools.builtin.find_tools import find_tools
from app.tools.builtin.formula_engine.kit import formula_engine_tools
from app.tools.builtin.http_get import HttpGet
from app.tools.builtin.json_utils.kit import json_utils_tools
from app.tools.builtin.pdf_text import pdf_text
from app.tools.builtin.session import join_task, read_result, spawn_task, workspace_state
from app.tools.builtin.web_search import Search
from app.tools.ports import RunnableTool


def builtin_tools(
    python: PythonTool, preferences: Callable[[], Preferences], environment: Callable[[], Mapping[str, str]]
) -> tuple[RunnableTool, ...]:
    """All of them, in the order in which they are listed."""
    pdf = ToolApart(pdf_text)
    session: tuple[RunnableTool, ...] = (*file_tools(pdf), workspace_state, read_result, find_tools, pdf)
    kits = (*data_transform_tools(), *date_utils_tools(), *formula_engine_tools(), *json_utils_tools())
    web = (HttpGet(preferences).tool(), Search(preferences, environment).tool())
    return (calculator, *session, python.tool(), spawn_task, join_task, *kits, *web)
