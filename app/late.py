"""Modules that are read when something in them is first asked for, so that no start waits for them.

    with late():
        from app.ui.pages import runs, tools

is an ordinary import to readers, type checkers and whatever packs the app; only that it reads none of the files yet.
What it names are modules, none of them a package: taking a name out of one would read it at once.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import RLock, local
from types import ModuleType
from typing import Generic, Self, TypeVar, overload

Whole = TypeVar("Whole")
Part = TypeVar("Part")


class late_part(Generic[Whole, Part]):  # noqa: N801  it is written as `functools.cached_property` is
    """A property that is made when it is first asked for, and once only, by whatever thread.

    `functools.cached_property` makes it twice when two threads ask at a time (since Python 3.12).
    """

    def __init__(self, make: Callable[[Whole], Part]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__
        self._making = RLock()  # one for each part: who needs another one does not wait for this one

    @overload
    def __get__(self, whole: None, _type: type[Whole]) -> Self: ...
    @overload
    def __get__(self, whole: Whole, _type: type[Whole]) -> Part: ...
    def __get__(self, whole: Whole | None, _type: type[Whole]) -> Self | Part:
        if whole is None:
            return self
        made: dict[str, Part] = vars(whole)  # where it is found from then on
        with self._making:
            if self._name not in made:
                made[self._name] = self._make(whole)
            return made[self._name]


@contextmanager
def late() -> Iterator[None]:
    """Modules of the app that are first imported in here are read when they are first used, by whatever thread."""
    before, _wishes.late = _wishes.late, True
    try:
        yield
    finally:
        _wishes.late = before


@contextmanager
def without(*libraries: str) -> Iterator[None]:
    """What is imported in here finds none of them, as if they were not installed; later imports find them."""
    before, _wishes.unwanted = _wishes.unwanted, frozenset(libraries)
    try:
        yield
    finally:
        _wishes.unwanted = before


def never(*libraries: str) -> None:
    """No import finds them from now on, in whatever thread, as if they were not installed."""
    for name in libraries:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to say that there is none


@contextmanager
def unbuilt() -> Iterator[None]:
    """Models of pydantic that are defined in here are built when they are first used, whoever defines them."""
    from pydantic import BaseModel  # noqa: PLC0415  heavy, and `--version` needs none of it

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def read(*modules: ModuleType) -> None:
    """Read those that were not used yet, beside the event loop, say."""
    for module in modules:
        spec = module.__spec__
        if isinstance(module, _LateModule) and spec is not None and isinstance(spec.loader, _LateLoader):
            spec.loader.fill(module)


def is_read(module: ModuleType) -> bool:
    """Whether its names are there."""
    return not isinstance(module, _LateModule)


class _Wishes(local):
    """What this thread wants of its imports now."""

    late = False
    unwanted: frozenset[str] = frozenset()


class _Finder(MetaPathFinder):
    """Finds what the others find, and only puts the reading off.

    It stays for good: Python goes through the finders without a lock, so whoever takes one away lets imports of other
    threads pass over the next (https://github.com/python/cpython/issues/130094).
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name in _wishes.unwanted:
            raise ModuleNotFoundError(f"{name} is not wanted here", name=name)
        if not _wishes.late or not name.startswith("app."):
            return None
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((one for one in found if one is not None), None)
        if spec is not None and spec.loader is not None and spec.submodule_search_locations is None:
            spec.loader = _LateLoader(spec.loader)
        return spec


class _LateLoader(Loader):
    """Leaves a module empty, and fills it when it is told to."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = RLock()
        self._began = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _LateModule

    def fill(self, module: ModuleType) -> None:
        """Return when all its names are there; the thread that reads it, and asks meanwhile, is not held up."""
        with self._lock:
            if self._began:
                return
            self._began = True
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._began = False
                raise
            module.__class__ = ModuleType


class _LateModule(ModuleType):
    """Until it was read: nobody sees what is there of it while another thread reads it."""

    def __getattribute__(self, name: str) -> object:
        if not name.startswith("__"):
            read(self)
        return ModuleType.__getattribute__(self, name)  # it may be no late one any more, which `super` would want

    def __getattr__(self, name: str) -> object:
        read(self)
        return ModuleType.__getattribute__(self, name)


_wishes = _Wishes()
sys.meta_path.insert(0, _Finder())
