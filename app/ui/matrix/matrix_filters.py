"""The boxes above a matrix that say which of its cases are shown, and by whose score."""

from collections.abc import Callable

from nicegui import ui

from app.domain.evals.matrix import FLAGS, Matrix
from app.engine.experiments.matrices import Looked
from app.ui.elements.choice import choice_buttons
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html
from app.ui.matrix.matrix_query import MatrixQuery
from app.ui.matrix.matrix_words import FLAG_WORDS

ALL = ""


class MatrixFilters:
    """`ask` is called with the query that the boxes make of the one that is shown, back at its first page."""

    def __init__(self, looked: Looked, query: MatrixQuery, ask: Callable[[MatrixQuery], None]) -> None:
        self._query = query
        self._ask = ask
        plan = looked.experiment.plan
        with ui.element("div").classes("toolbar matrix-filters").props('role=search aria-label="Filter cases"'):
            self._text = ui.input(placeholder="Search cases and answers", value=query.text).classes("search")
            self._text.props('outlined dense clearable type=search debounce=300 aria-label="Search cases"')
            self._text.props("data-testid=matrix-search")
            self._text.on_value_change(lambda: self._change(text=str(self._text.value or "")))
            self._tag = _select("Tag", {ALL: "All tags"} | {one: one for one in looked.matrix.tags}, query.tag)
            self._tag.on_value_change(lambda: self._change(tag=str(self._tag.value or ALL)))
            self._tag.visible = bool(looked.matrix.tags)
            names = {one.name: one.name + (" (decides)" if one.name == plan.deciding else "") for one in plan.scorers}
            self._scorer = _select("Score", names, looked.matrix.scorer)
            self._scorer.on_value_change(lambda: self._change(scorer=_unless(self._scorer.value, plan.deciding)))
            self._scorer.visible = len(names) > 1
            self._different = ui.checkbox("Only different", value=not query.all_rows).props("dense")
            self._different.props(
                'data-testid=matrix-only-different title="Leave out cases that are equal in all columns"'
            )
            self._different.on_value_change(lambda: self._change(all_rows=not self._different.value))
            self._different.visible = len(plan.columns) > 1
        self._flags = LiveHtml().classes("segmented matrix-flags").props('role=group aria-label="Which cases"')
        on_click_of(self._flags, "choice", self._choose)
        self._columns = LiveHtml().classes("segmented matrix-columns").props('role=group aria-label="Column shown"')
        on_click_of(self._columns, "choice", lambda place: self._change(column=int(place), page=self._query.page))
        self._names = [(str(place), column.words) for place, column in enumerate(plan.columns)]
        self.show(looked.matrix, query)

    def show(self, matrix: Matrix, query: MatrixQuery) -> None:
        """Let the boxes say that query, with how many cases there are of each kind."""
        self._query = query
        self._text.value, self._different.value = query.text, not query.all_rows
        self._tag.value = query.tag
        self._scorer.value = matrix.scorer
        self._flags.show(flag_buttons(matrix, query))
        self._columns.show(choice_buttons(self._names, str(query.column), testid="matrix-column-{}"))

    def _choose(self, flag: str) -> None:
        self._change(flag=next((one for one in FLAGS if one == flag), None))

    def _change(self, **fields: object) -> None:
        query = self._query.model_copy(update={"page": 1} | fields)
        if query.model_copy(update={"page": self._query.page}) != self._query:  # not only what `show` put into a box
            self._ask(query)


def flag_buttons(matrix: Matrix, query: MatrixQuery) -> Html:
    """A button for each kind of case that there is, and for the chosen one."""
    kinds = [flag for flag in FLAGS if matrix.counts.get(flag) or flag == query.flag]
    if matrix.rows and len(matrix.rows[0].cells) == 1:
        kinds = [flag for flag in kinds if flag != "equal"]
    choices = [(ALL, "All"), *((one, _counted(matrix, one)) for one in kinds)]
    return choice_buttons(choices, query.flag or ALL, testid="matrix-show-{}")


def _counted(matrix: Matrix, flag: str) -> str:
    number, words = next((matrix.counts.get(one, 0), FLAG_WORDS[one]) for one in FLAGS if one == flag)
    return f"{words} {number:,}"


def _select(label: str, options: dict[str, str], chosen: str) -> ui.select:
    box = ui.select(options, value=chosen if chosen in options else None, label=label)
    return (
        box.props("outlined dense options-dense").props(f"data-testid=matrix-{label.lower()}").classes("matrix-select")
    )


def _unless(chosen: object, usual: str) -> str:
    return "" if chosen is None or chosen == usual else str(chosen)
