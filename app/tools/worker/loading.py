"""Runs the source of a tool file and finds the tools in it."""

import functools
import importlib
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

from app.tools.function.arguments import InvalidTool
from app.tools.function.authoring import Marks, kit_name, marks_of
from app.tools.function.tool import AnyTool, Tool
from app.tools.worker.protocol import FileFailed
from app.tools.worker.trouble import in_words, own_line, own_traceback

MODULE = "agent_playground_file"

Function = FunctionType | MethodType


class FileTrouble(Exception):
    """The file cannot be used; `told` says why."""

    def __init__(self, told: FileFailed) -> None:
        super().__init__(told.text)
        self.told = told


@dataclass
class FileContents:
    """What a file that was run holds, by the names of its tools."""

    path: str
    tools: dict[str, AnyTool] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """A sentence for each function that looks like a tool and cannot be one."""


def load(path: str, source: str | None) -> FileContents:
    """Run the file, or import the app's own module of that name, and collect its tools. Raises `FileTrouble`."""
    module = importlib.import_module(path) if source is None else _run(path, source)
    file = FileContents(path)
    marked = {name: thing for name, thing in _own(module) if marks_of(thing)}
    for name, thing in (marked or dict(_own(module))).items():
        if isinstance(thing, type) and marked:
            _add_kit(file, thing)
        elif inspect.isfunction(thing) and (marked or _looks_like_a_tool(name, thing)):
            _add(file, thing, thing.__name__, marks_of(thing) or Marks(), required=bool(marked))
    return file


def _run(path: str, source: str) -> ModuleType:
    """The module after the file was run. Whatever it raises, also to end the process, is told as its trouble."""
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    module = ModuleType(MODULE)
    module.__file__ = path
    sys.modules[MODULE] = module
    sys.path.append(str(Path(path).parent))
    try:
        exec(compile(source, path, "exec", dont_inherit=True), vars(module))  # noqa: S102  the owner allowed this file
    except ModuleNotFoundError as error:
        raise FileTrouble(_not_found(error, path, source)) from error
    except BaseException as error:  # also what ends a program, such as `sys.exit`
        raise FileTrouble(_failed(error, path)) from error
    return module


def _not_found(error: ModuleNotFoundError, path: str, source: str) -> FileFailed:
    beside = f"{(error.name or '').replace('.', '/')}.py"
    if not (Path(path).parent / beside).is_file():
        return _failed(error, path, _missing(error, source))
    text = f"It imports {beside}, a tool file that has not been allowed to run. Look at it, then allow it there."
    return _failed(error, path).model_copy(update={"text": text})


def _failed(error: BaseException, path: str, missing: tuple[str, ...] = ()) -> FileFailed:
    text = in_words(error)
    if isinstance(error, SystemExit):
        text = "The file ends the program while it is loaded (SystemExit). Put that under `if __name__ == '__main__':`."
    return FileFailed(text=text, line=own_line(error, path), traceback=own_traceback(error, path), missing=missing)


def _missing(error: ModuleNotFoundError, source: str) -> tuple[str, ...]:
    """The packages to install: those of the file's script block that are not there, else the module itself."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  needed only after an error

    from app.tools.worker.script_block import BadScriptBlock, project, required_packages  # noqa: PLC0415  as above

    try:
        names = [name for one in required_packages(source) if (name := project(one))]
    except BadScriptBlock:
        names = []
    absent = []
    for name in names:
        try:
            distribution(name)
        except PackageNotFoundError:
            absent.append(name)
    return tuple(absent) or (((error.name or "").partition(".")[0],) if error.name else ())


def _own(module: ModuleType) -> Iterator[tuple[str, object]]:
    """What the file itself defined, without what it imported."""
    for name, thing in list(vars(module).items()):
        if (inspect.isfunction(thing) or isinstance(thing, type)) and thing.__module__ == module.__name__:
            yield name, thing


def _looks_like_a_tool(name: str, function: Function) -> bool:
    return not name.startswith("_") and bool(inspect.getdoc(function))


def _add_kit(file: FileContents, kind: type) -> None:
    """The public methods of an object of that class, which lives as long as the process."""
    marks = marks_of(kind) or Marks()
    try:
        kit = kind()
    except Exception as error:
        raise FileTrouble(_failed(error, file.path)) from error
    for name in vars(kind):
        method = getattr(kit, name)
        if not name.startswith("_") and (inspect.ismethod(method) or inspect.isfunction(method)):
            _add(file, method, f"{kit_name(kind.__name__)}__{name}", marks_of(method) or marks, required=True)


def _add(file: FileContents, function: Function, name: str, marks: Marks, *, required: bool) -> None:
    """Raises `FileTrouble` for a function that has to be a tool and cannot be one."""
    line = inspect.unwrap(function).__code__.co_firstlineno
    try:
        tool = Tool(_named(function, name), **asdict(marks))
    except InvalidTool as error:
        if required:
            raise FileTrouble(FileFailed(text=str(error), line=line)) from error
        file.left_out.append(f"{error} (line {line}; a function that is no tool starts with '_')")
        return
    except Exception as error:
        raise FileTrouble(_failed(error, file.path)) from error
    if tool.spec.name in file.tools:
        text = f"Two tools of this file are named {tool.spec.name!r}. Rename one of them."
        raise FileTrouble(FileFailed(text=text, line=line))
    file.tools[tool.spec.name] = tool


def _named(function: Function, name: str) -> Callable[..., object]:
    """The same function under the name that the model is told."""
    if function.__name__ == name:
        return function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def named(*given: object, **arguments: object) -> object:
            return await function(*given, **arguments)
    else:

        @functools.wraps(function)
        def named(*given: object, **arguments: object) -> object:
            return function(*given, **arguments)

    named.__name__ = name
    return named
