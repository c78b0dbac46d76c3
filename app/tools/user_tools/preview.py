"""What a tool file holds, read from its text: nothing of it is run."""

import ast
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.reading.python_source import tree_of
from app.late import late
from app.tools.user_tools.user_file import FileProblem, PreviewedTool

with late():
    from app.tools.function import authoring, docstring
    from app.tools.worker import script_block

LONGEST_PREVIEWED = 40_000
"""Characters. Python holds everything else up while it parses, about 20 ms for that many."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Preview:
    tools: tuple[PreviewedTool, ...] = ()
    requires: tuple[str, ...] = ()
    problem: FileProblem | None = None


NOTHING = Preview()


def preview(source: str, name: str) -> Preview:
    """The tools and packages that the text promises, or why it cannot be read; `name` is the file's in a traceback.

    A longer text than `LONGEST_PREVIEWED` promises no tools: what is in it is known once it ran.
    """
    try:
        requires = script_block.required_packages(source)
        tree = tree_of(source if len(source) <= LONGEST_PREVIEWED else "", name)
    except script_block.BadScriptBlock as error:
        return Preview(problem=FileProblem(str(error), error.line))
    except SyntaxError as error:
        shown = "".join(traceback.format_exception_only(error))
        return Preview(problem=FileProblem(f"{error.msg} (line {error.lineno})", error.lineno, shown))
    except (ValueError, RecursionError, MemoryError) as error:
        return Preview(problem=FileProblem(f"Python cannot read this file: {error or 'it is nested too deeply'}."))
    return Preview(tuple(_tools(tree)), requires)


def _tools(tree: ast.Module) -> Iterator[PreviewedTool]:
    """Where something is decorated with `tool` that alone, else each public function that says what it takes."""
    marked = [item for item in tree.body if isinstance(item, Function | ast.ClassDef) and _is_marked(item)]
    for item in marked or tree.body:
        if isinstance(item, ast.ClassDef) and item in marked:
            yield from _kit(item)
        elif isinstance(item, Function) and (item in marked or _is_tool(item)):
            yield _previewed(item, item.name)


def _kit(item: ast.ClassDef) -> Iterator[PreviewedTool]:
    for part in item.body:
        if isinstance(part, Function) and not part.name.startswith("_"):
            yield _previewed(part, f"{authoring.kit_name(item.name)}__{part.name}")


def _is_marked(item: Function | ast.ClassDef) -> bool:
    """Whether it is decorated with `tool`, also as `tool(…)` or `agent_playground.tool`."""
    for decorator in item.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if "tool" in (getattr(called, "id", ""), getattr(called, "attr", "")):
            return True
    return False


def _is_tool(function: Function) -> bool:
    return not function.name.startswith("_") and bool(ast.get_docstring(function))


def _previewed(function: Function, name: str) -> PreviewedTool:
    arguments = function.args
    parameters = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    docs = docstring.read_docstring(ast.get_docstring(function), parameters)
    return PreviewedTool(name, docs.description, function.lineno)
