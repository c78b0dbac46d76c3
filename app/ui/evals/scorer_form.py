"""Scorers in words: what each type asks of an answer, and the dialog that adds or changes one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import get_args

from nicegui import ui
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.evals.scorers import (
    Check,
    Contains,
    Cost,
    Judge,
    Latency,
    Pairwise,
    PythonFile,
    Regex,
    Scorer,
    ScorerBase,
    Trajectory,
)
from app.tools.user_tools.scorer_files import ScorerFile
from app.ui.elements.buttons import button, loading
from app.ui.elements.format import head
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.ui.elements.visible import visible
from app.ui.evals.fields import Fields, FieldWords, fault_of
from app.workbench import Workbench

SCORER: TypeAdapter[Scorer] = TypeAdapter(Scorer)
_KINDS: tuple[type[ScorerBase], ...] = get_args(get_args(Scorer)[0])
_CHECKS: tuple[type[ScorerBase], ...] = get_args(get_args(Check)[0])
TYPES: dict[str, str] = {
    "exact": "The answer is the expected one",
    "contains": "The answer contains texts",
    "regex": "A pattern is found in the answer",
    "json": "JSON in the answer matches",
    "numeric": "A number is near the expected one",
    "trajectory": "The calls of tools are the expected ones",
    "latency": "It answers in time",
    "cost": "It costs no more than that",
    "steps": "It takes few steps",
    "checks": "What the case itself asks holds",
    "judge": "A model judges the answer",
    "pairwise": "A model compares it with the baseline's",
    "python": "A Python file judges",
}
CHECK_TYPES = {one.model_fields["type"].default: TYPES[one.model_fields["type"].default] for one in _CHECKS}
"""Those that a single case may ask."""
RELATIONS: dict[str, str] = {
    "at_least_in_order": "At least these, in this order",
    "at_least": "At least these, in any order",
    "same_order": "The same calls in the same order",
    "any_order": "The same calls in any order",
    "nothing_but": "Nothing but these",
}
ARGUMENTS: dict[str, str] = {
    "contain": "At least the expected arguments",
    "equal": "The same arguments",
    "fields": "Only some arguments count",
    "ignore": "Arguments do not matter",
}
CASE = FieldWords("ignore_case", "Large and small letters are the same", "switch")
FILE = FieldWords("file", "File", hint="It runs in a process of its own, once you trust it.")
FIELDS: dict[str, tuple[FieldWords, ...]] = {
    "exact": (CASE, FieldWords("ignore_space", "Spaces do not matter", "switch")),
    "contains": (
        FieldWords("texts", "Texts", "lines", "One a line. Without any: the expected answer."),
        FieldWords(
            "mode", "How many of them", options={"all": "All of them", "any": "Any of them", "none": "None of them"}
        ),
        CASE,
    ),
    "regex": (
        FieldWords("pattern", "Pattern", hint="A regular expression. Without one: the expected answer is the pattern."),
        FieldWords("whole", "The whole answer must match", "switch"),
    ),
    "json": (
        FieldWords("paths", "Paths", "lines", "One a line, such as total or items[0].name. Without any: all of it."),
        FieldWords("expected", "Expected by path", "json", "In place of the expected answer's"),
        FieldWords("tolerance", "Numbers may be off by", "number"),
        FieldWords("extra_keys", "The answer may say more", "switch"),
    ),
    "numeric": (
        FieldWords("path", "Path to the number", hint="In an answer that is JSON. Without one: its last number."),
        FieldWords("tolerance", "It may be off by", "number"),
        FieldWords("relative", "Or by this share of it", "number", "0.01 is 1 %"),
    ),
    "trajectory": (
        FieldWords("relation", "Which calls", options=RELATIONS),
        FieldWords("arguments", "Their arguments", options=ARGUMENTS),
        FieldWords("fields", "Arguments that count", "lines", "One a line, where only some do"),
        FieldWords("count_failed", "Calls that failed count as made", "switch"),
        FieldWords("graded", "Part of the calls is part of the score", "switch"),
    ),
    "latency": (FieldWords("most_seconds", "Seconds at most", "number"),),
    "cost": (FieldWords("most_usd", "US dollars at most", "number"),),
    "steps": (
        FieldWords("most_steps", "Steps at most", "number"),
        FieldWords("most_calls", "Calls of tools at most", "number"),
    ),
    "checks": (),
    "judge": (
        FieldWords("model", "Model", "model"),
        FieldWords("criteria", "Sentences that a good answer makes true", "lines", "One a line, five at most"),
        FieldWords("sees_calls", "It also sees the calls of tools", "switch"),
        FieldWords("votes", "Votes", "number", "3: asked twice more when contested"),
        FieldWords("juries", "Further models that vote", "lines", "One a line: provider/model"),
    ),
    "pairwise": (
        FieldWords("model", "Model", "model"),
        FieldWords("criterion", "What makes an answer better", "text"),
    ),
    "python": (
        FILE,
        FieldWords("settings", "Settings", "json", "Handed to it"),
    ),
}
THRESHOLD = FieldWords("threshold", "Passes from", "number", "From 0 to 1: 1 is all of it")
NAME = FieldWords("name", "Name", hint="What it is called in tables")
NO_FILES = "There is no Python file in {folder} yet. Put one there that has a function `score`, then come back."
GRADED = ("json", "trajectory", "checks", "judge", "pairwise", "python")
"""The types whose score may lie between 0 and 1."""
_EXAMPLES = joined(
    "Say what is there, not what is missing, one thing in each sentence. ",
    tag("strong", "It names the price."),
    " or ",
    tag("strong", "It asks before it deletes anything."),
    " What the model cannot tell is not scored.",
)


class ScorerDialog:
    """`await asked()` gives the scorer, `None` when they thought better of it.

    `keep` stores it while the dialog is open: where it raises `WorkbenchError`, nothing that was typed is lost.
    """

    def __init__(
        self,
        workbench: Workbench,
        before: Scorer | None = None,
        *,
        types: Mapping[str, str] = TYPES,
        noun: str = "scorer",
        keep: Callable[[Scorer], Awaitable[object]] | None = None,
    ) -> None:
        self._workbench = workbench
        self._keep = keep
        self._before = before
        self._types = types
        self._files: Sequence[ScorerFile] = ()
        title = f"Change the {noun} {before.name}" if before else f"Add a {noun}"
        with named_dialog(title) as self._dialog, ui.card().classes("dialog-card dialog-small") as card:
            card.props("data-testid=scorer-dialog")
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            self._type = ui.select(dict(types), value=before.type if before else "exact", label="What is asked")
            self._type.classes("fill").props("outlined dense options-dense data-testid=scorer-type")
            self._type.on_value_change(self._show)
            self._place = ui.element("div").classes("fill stack dialog-body")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", partial(self._dialog.submit, None), look="quiet")
                self._save_button = button(f"Save {noun}", self._save, look="primary", testid="scorer-save")
        keep_typed(self._dialog, card)
        self._show()

    async def asked(self) -> Scorer | None:
        if "python" in self._types:
            self._files = await self._workbench.scorer_files.files()
            self._show()
        found = await answer_to(self._dialog, ScorerBase)
        return None if found is None else SCORER.validate_python(found.model_dump())

    def _show(self) -> None:
        kind, shown = str(self._type.value), shown_fields(str(self._type.value))
        if kind == "python":
            names = self._names()
            file = [FILE._replace(options=names)] if names else []
            shown = (*file, *(one for one in shown if one is not FILE))
        self._place.clear()
        with self._place:
            if kind == "judge":
                ui.html(tag("p", _EXAMPLES, cls="muted"), sanitize=False)
            if kind == "python" and not self._files:
                ui.label(NO_FILES.format(folder=self._workbench.scorer_files.folder)).classes("muted")
            self._fields = Fields(self._workbench, shown, self._given(kind) or usual(kind))

    def _names(self) -> dict[str, str]:
        """The files there are, and the one that is named already, with what they say of themselves."""
        before = self._before.file if isinstance(self._before, PythonFile) else ""
        told = {file.name: f"{file.name}: {head(file.description, 60)}" for file in self._files if file.description}
        names = [file.name for file in self._files]
        return {name: visible(told.get(name, name)) for name in dict.fromkeys([*([before] if before else []), *names])}

    def _given(self, kind: str) -> dict[str, JsonValue]:
        return self._before.model_dump(mode="json") if self._before and self._before.type == kind else {}

    async def _save(self) -> None:
        kind = str(self._type.value)
        shown = [words.name for words in shown_fields(kind)]
        kept = {name: value for name, value in self._given(kind).items() if name not in shown}
        with problems_shown(), loading(self._save_button):
            said = {**kept, **self._fields.values()}
            if kind == "python":  # called as its file is, where nobody says another name
                said.setdefault("name", str(said.get("file", "")).removesuffix(".py"))
            scorer = scorer_of(kind, said)
            if self._keep is not None:
                await self._keep(scorer)
            self._dialog.submit(scorer)


def shown_fields(kind: str) -> tuple[FieldWords, ...]:
    return (*FIELDS[kind], *((THRESHOLD,) if kind in GRADED else ()), NAME)


def scorer_of(kind: str, typed: Mapping[str, JsonValue]) -> Scorer:
    """Raises `WorkbenchError` that names the field that does not fit."""
    try:
        return SCORER.validate_python({**typed, "type": kind})
    except ValidationError as error:
        raise fault_of(error) from error


def usual(kind: str) -> dict[str, JsonValue]:
    """What a new scorer of that type says."""
    values = next(one for one in _KINDS if one.model_fields["type"].default == kind).model_construct()
    dumped: dict[str, JsonValue] = values.model_dump(mode="json", exclude={"type"})
    return dumped


def scorer_words(scorer: Scorer) -> str:
    """What it asks, with what was set."""
    told = ""
    match scorer:
        case Contains(texts=texts, mode=mode) if texts:
            told = f"{mode} of {', '.join(texts)}"
        case Regex(pattern=pattern) if pattern:
            told = pattern
        case Trajectory(relation=relation):
            told = RELATIONS[relation].lower()
        case Latency(most_seconds=most):
            told = f"{most:g} seconds at most"
        case Cost(most_usd=most):
            told = f"${most:g} at most"
        case Judge(criteria=criteria, model=model):
            told = f"{' '.join(criteria)} ({model})"
        case Pairwise(criterion=criterion, model=model):
            told = f"{criterion} ({model})"
        case PythonFile(file=file):
            told = file
        case _:
            pass
    return f"{TYPES[scorer.type]}: {told}" if told else TYPES[scorer.type]
