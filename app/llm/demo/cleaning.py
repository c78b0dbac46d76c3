"""Tables cleaned up: the CSV read, its dates put into one format, its amounts summed up, one tool after the other."""

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish
from app.llm.demo.ask import Ask
from app.llm.demo.cleaned import Cleaning, answer_about
from app.llm.demo.missing import told, without
from app.llm.demo.tables import Row, amount_columns, date_columns, group_column, table_in

READ, DATES, CALCULATE = "data_transform__csv_to_json", "date_utils__parse_dates", "formula_engine__evaluate"
MOST_SUMS = 4
_TASK = re.compile(
    r"\b(?:clean\w*|tidy\w*|csv|tsv|table|spreadsheet|normali[sz]e\w*|standardi[sz]e\w*|dates|total\w*|sum\w*|rows|columns)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?:python|code|script|program|snippet)\b", re.IGNORECASE)
_WRITE = re.compile(r"\W*(?:please\s+)?(?:write|save|put|store|create)\b", re.IGNORECASE)


def clean_data(ask: Ask) -> Answer | None:
    table = table_in(ask.text)
    if not table or not _is_task(ask, table):
        return None
    lacking = without(ask, READ)
    if lacking is not None:
        return lacking
    failed = next((result for result in ask.results if result.failed), None)
    if failed is not None:
        return told(failed)
    if not ask.results and not table.startswith("["):
        return Answer(thought=_first_thought(table), wishes=(Wish(READ, {"csv": table}),))
    return _next(ask, table)


def _is_task(ask: Ask, table: str) -> bool:
    """True when the words around the table ask for it, or when there is nothing but the table."""
    words = ask.text.replace(table, " ").strip()
    if _CODE.search(words) or _WRITE.match(ask.text):
        return False
    return _TASK.search(words) is not None or (not words.strip("`\n ") and READ in ask.tools)


def _first_thought(table: str) -> str:
    if table.startswith("/"):
        return f"{table} is a table. First I read it: data_transform__csv_to_json takes a session file's path."
    lines = len([line for line in table.replace("\\n", "\n").replace(" / ", "\n").splitlines() if line.strip()])
    return f"This is a CSV table of {lines} lines. First I turn it into rows with data_transform__csv_to_json."


def _next(ask: Ask, table: str) -> Answer:
    """The next call, or the answer when all were made."""
    cleaning = Cleaning()
    results = list(ask.results)
    if table.startswith("["):
        cleaning.rows = _rows(json.loads(table))
        cleaning.columns = list(dict.fromkeys(name for row in cleaning.rows for name in row))
    elif not _take_table(cleaning, results.pop(0)):
        return Answer(text=_TOO_BIG)
    for wish, thought in _plan(cleaning, ask.text, table if table.startswith("/") else [*cleaning.rows]):
        if not results:
            return without(ask, wish.tool) or Answer(thought=thought, wishes=(wish,))
        if not _take(cleaning, wish, results.pop(0)):
            return Answer(text=_TOO_BIG)
    return Answer(text=answer_about(cleaning))


_TOO_BIG = (
    "The table is so big that I only get to see the beginning of the result, so I stop here rather than guess. The "
    "whole result is kept with the call. A real model can go on with the tools of the kit `data_transform`, which also "
    "take the path of a session file."
)


def _plan(cleaning: Cleaning, text: str, rows: JsonValue) -> list[tuple[Wish, str]]:
    """Every call that the table needs, in order, each with the thought before it.

    `rows`: what the calculations get, the rows or the path of their file.
    """
    dated = date_columns(cleaning.rows, cleaning.columns)
    amounts = [name for name in amount_columns(cleaning.rows, cleaning.columns) if name not in dated]
    others = [name for name in cleaning.columns if name not in dated and name not in amounts]
    cleaning.group = group_column(cleaning.rows, others, text)
    plan = [_date_call(cleaning.rows, name) for name in dated]
    return plan + [_sum_call(rows, name, cleaning.group) for name in amounts[:MOST_SUMS]]


def _date_call(rows: Sequence[Row], column: str) -> tuple[Wish, str]:
    texts = [_text(row.get(column)) for row in rows if _text(row.get(column))]
    thought = (
        f"The column {column} holds dates, such as {' and '.join(texts[:2])}. I give all of them to "
        "date_utils__parse_dates at once: the clear ones show how the others are meant."
    )
    return Wish(DATES, {"texts": list[JsonValue](texts)}), thought


def _sum_call(rows: JsonValue, column: str, group: str) -> tuple[Wish, str]:
    plain = re.fullmatch(r"[^\W\d]\w*", column) is not None
    formula = f"=SUM({column})" if plain else f"=SUM([{column}])"
    arguments: dict[str, JsonValue] = {"formula": formula, "rows": rows}
    if group:
        arguments["group_by"] = group
    aim = f"for each {group}" if group else "over all rows"
    return Wish(CALCULATE, arguments), f"Now the numbers: formula_engine__evaluate adds up {column} {aim}."


def _take_table(cleaning: Cleaning, result: ToolResult) -> bool:
    """Take in what was read; `False` when the result is not whole."""
    said = _json(result)
    if said is None:
        return False
    cleaning.rows = _rows(said.get("rows"))
    cleaning.columns = _texts(said.get("columns"))
    cleaning.notes = _texts(said.get("notes"))
    return True


def _take(cleaning: Cleaning, wish: Wish, result: ToolResult) -> bool:
    said = _json(result)
    if said is None:
        return False
    if wish.tool == DATES:
        texts = wish.arguments["texts"]
        column = next(
            name
            for name in cleaning.columns
            if name not in cleaning.dates
            and [_text(row.get(name)) for row in cleaning.rows if _text(row.get(name))] == texts
        )
        cleaning.dates[column] = _rows(said.get("dates"))
    else:
        cleaning.sums[str(wish.arguments["formula"])] = said
    return True


def _json(result: ToolResult) -> Row | None:
    """The result as JSON; `None` for one that was cut."""
    try:
        said: JsonValue = json.loads(result.text)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _rows(value: JsonValue) -> list[Row]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _texts(value: JsonValue) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _text(value: JsonValue) -> str:
    return "" if value is None else str(value).strip()
