"""A chart in the page: its finding, its drawing, its table and its file."""

from nicegui import ui

from app.ui.charts.chart import Chart, Series, amount, csv_text, finding
from app.ui.charts.drawing import drawing, legend
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.visible import visible

# What is pointed at or focused is told in words below the drawing. Leaving it brings the finding back.
_TELL = """(event) => {
  const chart = event.target.closest('.chart'), mark = event.target.closest('.chart-mark');
  const told = chart?.querySelector('.chart-told');
  if (told) told.textContent = mark ? mark.querySelector('title').textContent : told.dataset.finding;
}"""
_ARROWS = """(event) => {
  const here = event.target.closest('.chart-mark');
  if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
  const marks = [...here.closest('svg').querySelectorAll('.chart-mark')], at = marks.indexOf(here);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  if (!marks[to]) return;
  marks.forEach((one) => one.setAttribute('tabindex', one === marks[to] ? '0' : '-1'));
  marks[to].focus();
}"""


class ChartView(LiveHtml):
    """Draws a chart anew only when its figures are others; knows whether its table is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._chart: Chart | None = None
        self._as_table = False
        self.classes("chart-place")
        on_click_of(self, "chart-act", self._act)
        for event in ("focusin", "pointerover"):
            self.on(event, js_handler=_TELL)
        self.on("keydown", js_handler=_ARROWS)

    def show_chart(self, chart: Chart) -> None:
        """Show these figures."""
        self._chart = chart
        self.show(figure(chart, as_table=self._as_table))

    def _act(self, action: str) -> None:
        if self._chart is None:
            return
        if action == "csv":
            ui.download.content(csv_text(self._chart), f"{self._chart.name}.csv", "text/csv")
            return
        self._as_table = not self._as_table
        self.show_chart(self._chart)


def figure(chart: Chart, *, as_table: bool = False) -> Html:
    """The chart with its title, legend, and the sentence of what it says; `as_table`: with its table."""
    said = finding(chart)
    head = tag("figcaption", tag("h3", chart.title), legend(chart) if chart.known else "")
    told = tag("p", said, cls="chart-told", data_finding=said, aria_hidden="true")
    # It is drawn from its right end, and scrolled from there: of a narrow window the newest are seen.
    drawn = tag("div", drawing(chart), cls="chart-scroll") if chart.known else tag("p", "No figures yet.", cls="muted")
    return tag(
        "figure",
        head,
        drawn,
        *((told, _buttons(chart, as_table=as_table)) if chart.known else ()),
        table(chart) if as_table and chart.known else "",
        cls="chart",
        data_testid="chart",
        data_chart=chart.name,
    )


def table(chart: Chart) -> Html:
    """The same figures in words."""
    heads = (tag("th", visible(one), scope="col") for one in (chart.axis, *(one.label for one in chart.series)))
    rows = (
        tag(
            "tr",
            tag("th", tag("a", visible(slot.said), href=slot.href) if slot.href else visible(slot.said), scope="row"),
            *(tag("td", _figure(chart, one, place)) for one in chart.series),
        )
        for place, slot in reversed(list(enumerate(chart.slots)))
    )
    written = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), data_testid="chart-table")
    return tag("div", written, cls="chart-table", tabindex="0", role="group", aria_label=f"Table of {chart.title}")


def _figure(chart: Chart, one: Series, place: int) -> Html | str:
    """A link where there is something behind it."""
    said, href = amount(one.values[place], chart.unit), chart.slots[place].href
    return tag("a", said, href=f"{href}&{one.which}") if href and one.which and one.values[place] else said


def _buttons(chart: Chart, *, as_table: bool) -> Html:
    shown = "true" if as_table else "false"
    words = "Hide the table" if as_table else "Show as table"
    key = f"{chart.name}-table"
    switch = tag("button", words, cls="link-button", data_chart_act="table", data_key=key, aria_expanded=shown)
    label = f"Download {chart.title} as CSV"
    said = {"cls": "link-button", "data_chart_act": "csv", "data_key": f"{chart.name}-csv", "aria_label": label}
    return tag("div", switch, tag("button", icon("download"), "CSV", **said), cls="chart-buttons")
