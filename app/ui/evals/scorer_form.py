"""Scorers in words: what each type asks of an answer, and the dialog that adds or changes one."""

from collections.abc import Mapping
from functools import partial
from typing import get_args

from nicegui import ui
from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.evals.scorers import (
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
from app.ui.elements.buttons import button
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.evals.fields import Fields, FieldWords, fault_of
from app.workbench import Workbench

SCORER: TypeAdapter[Scorer] = TypeAdapter(Scorer)
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
        FieldWords("file", "File in the folder scorers", hint="It runs in a process of its own, once you trust it."),
        FieldWords("settings", "Settings", "json", "Handed to it"),
    ),
}
THRESHOLD = FieldWords("threshold", "Passes from", "number", "From 0 to 1: 1 is all of it")
NAME = FieldWords("name", "Name", hint="What it is called in tables")
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
    """`await asked()` gives the scorer, `None` when they thought better of it."""

    def __init__(self, workbench: Workbench, before: Scorer | None = None) -> None:
        self._workbench = workbench
        self._before = before
        title = f"Change the scorer {before.name}" if before else "Add a scorer"
        with named_dialog(title) as self._dialog, ui.card().classes("dialog-card dialog-small") as card:
            card.props("data-testid=scorer-dialog")
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            self._type = ui.select(TYPES, value=before.type if before else "exact", label="What is asked")
            self._type.classes("fill").props("outlined dense options-dense data-testid=scorer-type")
            self._type.on_value_change(self._show)
            self._place = ui.element("div").classes("fill stack dialog-body")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", partial(self._dialog.submit, None), look="quiet")
                button("Save scorer", self._save, look="primary", testid="scorer-save")
        self._show()

    async def asked(self) -> Scorer | None:
        found = await answer_to(self._dialog, ScorerBase)
        return None if found is None else SCORER.validate_python(found.model_dump())

    def _show(self) -> None:
        kind, shown = str(self._type.value), shown_fields(str(self._type.value))
        self._place.clear()
        with self._place:
            if kind == "judge":
                ui.html(tag("p", _EXAMPLES, cls="muted"), sanitize=False)
            self._fields = Fields(self._workbench, shown, self._given(kind) or usual(kind))

    def _given(self, kind: str) -> dict[str, JsonValue]:
        return self._before.model_dump(mode="json") if self._before and self._before.type == kind else {}

    def _save(self) -> None:
        kind = str(self._type.value)
        shown = [words.name for words in shown_fields(kind)]
        kept = {name: value for name, value in self._given(kind).items() if name not in shown}
        with problems_shown():
            self._dialog.submit(scorer_of(kind, {**kept, **self._fields.values()}))


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


_KINDS: tuple[type[ScorerBase], ...] = get_args(get_args(Scorer)[0])
