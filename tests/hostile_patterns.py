"""Every pattern of the app, found by itself, and texts that take a backtracking engine long, made from each pattern.

A pattern is quadratic where two of its repeats can share a run of characters, or where a search begins anew at each
character of one. So each piece of a pattern is written out and repeated, behind what has to come before it, before
something that cannot come after it.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as codes
from re import _parser as parser
from types import ModuleType

import app

Node = tuple
USES = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
LETTERS = "aA0 \n_-.,:/\"'`([{é"
"""One of each kind of character that patterns ask for."""
ENDS = ("", "\x00", "\n!", "x")
MOST_NODES = 8
"""Of one sequence that are written out in all combinations."""


@dataclass(frozen=True)
class FoundPattern:
    """`uses`: what the app does with it; empty where only its holder is known, which may do anything."""

    module: str
    line: int
    pattern: re.Pattern
    uses: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.pattern.pattern[:60]!r}"

    def apply(self, text: str) -> None:
        """Do with it what takes longest of what the app does with it."""
        given = text if isinstance(self.pattern.pattern, str) else text.encode()
        if self.uses and self.uses <= {"match", "fullmatch"}:
            for use in self.uses:
                getattr(self.pattern, use)(given)
            return
        for _ in self.pattern.finditer(given):
            pass


def found_patterns() -> list[FoundPattern]:
    """Those that stand in modules, in whatever they hold, and those that are written where they are used."""
    found = [one for module in app_modules() for one in _in_module(module)]
    return sorted({(str(one.pattern), one.uses): one for one in found}.values(), key=str)


@cache
def app_modules() -> tuple[ModuleType, ...]:
    names = [one.name for one in pkgutil.walk_packages(app.__path__, "app.") if not one.name.endswith("__main__")]
    return tuple(_read(importlib.import_module(name)) for name in names if not _of_windows(name))


def _of_windows(name: str) -> bool:
    return "windows" in name


def _read(module: ModuleType) -> ModuleType:
    dir(module)
    return module


@cache
def _tree(module: ModuleType) -> ast.Module:
    """Empty for a module in which no pattern is used: to read them all takes ten times as long."""
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    return ast.parse(text if any(f".{use}" in text for use in (*USES, "compile")) else "")


def _calls(module: ModuleType, name: str) -> set[str]:
    """What is called on it: `NAME.fullmatch(…)`; on one that is private, in its own module only."""
    modules = (module,) if name.startswith("_") else app_modules()
    return {use for one in modules for holder, use in _called(one) if holder == name}


def _calls_of_locals(module: ModuleType, name: str) -> set[str]:
    """What the module does with patterns of its own tables; with those of a public one anything may be done."""
    held = {use for holder, use in _called(module) if holder.isidentifier() and holder not in ("re", *vars(module))}
    return held if name.startswith("_") else set()


@cache
def _called(module: ModuleType) -> frozenset[tuple[str, str]]:
    found = (node for node in ast.walk(_tree(module)) if isinstance(node, ast.Attribute) and node.attr in USES)
    return frozenset((ast.unparse(node.value).rpartition(".")[2], node.attr) for node in found)


def _in_module(module: ModuleType) -> Iterator[FoundPattern]:
    for name, value in vars(module).items():
        uses = _calls(module, name) if isinstance(value, re.Pattern) else _calls_of_locals(module, name)
        for pattern in _held(value, 3):
            yield FoundPattern(module.__name__, 0, pattern, frozenset(uses))
    for call, use in _uses(module):
        pattern = _evaluated(module, call)
        if pattern is not None and use != "compile":
            yield FoundPattern(module.__name__, call.lineno, pattern, frozenset({use}))


def _held(value: object, depth: int) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from (one for inner in value.values() for one in _held(inner, depth - 1))
    elif depth and isinstance(value, tuple | list | set | frozenset):
        yield from (one for inner in value for one in _held(inner, depth - 1))


def _uses(module: ModuleType) -> Iterator[tuple[ast.Call, str]]:
    """The calls of `re` itself."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            holder = node.func.value
            if isinstance(holder, ast.Name) and holder.id == "re" and node.func.attr in (*USES, "compile"):
                yield node, node.func.attr


def _evaluated(module: ModuleType, call: ast.Call) -> re.Pattern | None:
    flags = [one for one in call.keywords if one.arg == "flags"]
    places = {"compile": 1, "sub": 4, "subn": 4, "split": 3}
    place = places.get(call.func.attr, 2)
    given = flags[0].value if flags else call.args[place] if len(call.args) > place else ast.Constant(0)
    try:
        return re.compile(*(_value(module, one) for one in (call.args[0], given)))
    except NameError:
        return None


def _value(module: ModuleType, node: ast.expr) -> object:
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<pattern>", "eval"), vars(module))


@dataclass(frozen=True)
class HostileText:
    before: str
    repeated: str
    after: str

    def of(self, length: int) -> str:
        """Of that many characters, nearly."""
        times = max(1, (length - len(self.before) - len(self.after)) // max(1, len(self.repeated)))
        return self.before + self.repeated * times + self.after


def hostile_texts(pattern: re.Pattern) -> list[HostileText]:
    """What is likely to take this pattern long."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~(0 if isinstance(pattern.pattern, str) else re.LOCALE)
    tree = parser.parse(source, flags if isinstance(pattern.pattern, str) else flags | re.UNICODE)
    letters = "".join(dict.fromkeys(LETTERS + "".join(sorted(_literals(tree)))[:12]))
    made: dict[tuple[str, str], None] = {}
    for letter, branch in product(letters, (0, 1, -1)):
        for before, repeated in _pieces(list(tree), "", Writing(letter, branch)):
            if repeated:
                made[(before[:60], repeated[:60])] = None
                made[("", repeated[:60])] = None
    return [HostileText(before, repeated, after) for before, repeated in made for after in ENDS]


@dataclass(frozen=True)
class Writing:
    """How a piece is written out: with this character wherever it may stand, with this of several branches."""

    letter: str
    branch: int


def _pieces(nodes: list[Node], before: str, how: Writing) -> Iterator[tuple[str, str]]:
    """Each run of neighbours, behind what comes before it; then the same inside of each."""
    runs = list(_joined(nodes))
    for start in range(len(runs)):
        head = before + "".join(_text(node, how) for run in runs[:start] for node in run)
        for end in range(start + 1, min(len(runs), start + MOST_NODES) + 1):
            yield head, "".join(_text(node, how) for run in runs[start:end] for node in run)
        for node in runs[start]:
            for inner in _inside(node):
                yield from _pieces(list(inner), head, how)


def _joined(nodes: Iterable[Node]) -> Iterator[list[Node]]:
    """Letters that follow each other as one."""
    word: list[Node] = []
    for node in nodes:
        if node[0] is codes.LITERAL:
            word.append(node)
            continue
        if word:
            yield word
            word = []
        yield [node]
    if word:
        yield word


def _inside(node: Node) -> list[Iterable[Node]]:
    kind, value = node
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is codes.SUBPATTERN:
        return [value[3]]
    if kind is codes.BRANCH:
        return list(value[1])
    if kind is codes.ATOMIC_GROUP:
        return [value]
    if kind in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return []


def _text(node: Node, how: Writing) -> str:  # noqa: PLR0911  one for each kind of node
    kind, value = node
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.NOT_LITERAL:
        return how.letter if ord(how.letter) != value else "x" if value != ord("x") else "y"
    if kind is codes.ANY:
        return how.letter if how.letter != "\n" else "a"
    if kind is codes.IN:
        return next((one for one in (how.letter, *LETTERS, *_members(value)) if _is_in(one, value)), "")
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return "".join(_text(one, how) for one in value[2]) * max(value[0], 1)
    if kind is codes.BRANCH:
        chosen = value[1][how.branch if how.branch < len(value[1]) else 0]
        return "".join(_text(one, how) for one in chosen)
    if kind in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return "".join(_text(one, how) for one in _inside(node)[0])
    return ""


def _literals(nodes: Iterable[Node]) -> set[str]:
    """The characters that are named, but for letters and digits: those stand for one another."""
    found: set[str] = set()
    for kind, value in nodes:
        if kind in (codes.LITERAL, codes.NOT_LITERAL):
            found.add(chr(value))
        elif kind is codes.IN:
            found.update(chr(inner) for one, inner in value if one is codes.LITERAL)
        for inside in _inside((kind, value)):
            found |= _literals(inside)
    return {one for one in found if not (one.isascii() and one.isalnum())}


def _members(items: Iterable[Node]) -> Iterator[str]:
    for kind, value in items:
        if kind is codes.LITERAL:
            yield chr(value)
        elif kind is codes.RANGE:
            yield chr(value[0])


def _is_in(letter: str, items: Iterable[Node]) -> bool:
    negated, code, found = False, ord(letter), False
    for kind, value in items:
        if kind is codes.NEGATE:
            negated = True
        elif kind is codes.LITERAL:
            found |= code == value
        elif kind is codes.RANGE:
            found |= value[0] <= code <= value[1]
        elif kind is codes.CATEGORY:
            found |= _CATEGORIES[value](letter)
    return found != negated


_CATEGORIES = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_NOT_DIGIT: lambda one: not one.isdecimal(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    codes.CATEGORY_WORD: lambda one: one.isalnum() or one == "_",
    codes.CATEGORY_NOT_WORD: lambda one: not (one.isalnum() or one == "_"),
}
