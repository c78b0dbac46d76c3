"""Tables: CSV read however it was written, rows chosen, summed up and joined."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import ToolError
from app.domain.reading.numbers import number_in, plain
from app.tools.builtin.data_transform.choosing import (
    data_transform__deduplicate,
    data_transform__filter,
    data_transform__select,
    data_transform__sort,
)
from app.tools.builtin.data_transform.csv_text import read_csv
from app.tools.builtin.data_transform.joining import data_transform__join
from app.tools.builtin.data_transform.kit import (
    data_transform__csv_to_json,
    data_transform__json_to_csv,
    data_transform_tools,
    write_csv,
)
from app.tools.builtin.data_transform.summing import data_transform__aggregate, data_transform__group
from app.tools.function.tool import AnyTool
from tests.tools.builtin.using import told_by
from tests.tools.context import Context, MemoryFiles

SALES: list[dict[str, Any]] = [
    {"name": "John", "amount": "1,500", "region": "West"},
    {"name": "Jane", "amount": 2000, "region": "East"},
    {"name": "Bob", "amount": "$1 200.50", "region": "West"},
    {"name": "Eve", "amount": "n/a", "region": "East"},
    {"name": "Zoe", "amount": None, "region": "North"},
]


async def told(tool: AnyTool, context: Context | None = None, **arguments: object) -> Any:
    return json.loads(await told_by(tool, context, **arguments))


def names(told: Any) -> list[str]:
    return [row["name"] for row in told["rows"]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,500", 1500), ("$1 200.50", 1200.5), ("12%", 0.12), ("1.500,50", 1500.5), ("1,5", 1.5), ("1.500", 1.5),
        ("(300)", -300), ("1200 EUR", 1200), ("−5", -5), ("1'200", 1200), ("1.500.000", 1500000), ("1e3", 1000),
        ("0,125", 0.125), ("-0,250 EUR", -0.25), ("0,125,300", None), ("00,125", None),
        ("007", None), ("1,50,0", None), ("2024-01-15", None), ("3 apples", None), ("", None), ("(5", None),
    ],
)  # fmt: skip
def test_numbers_written_as_text_are_read_as_the_docs_say(text: str, number: float | None):
    found = number_in(text)
    assert (None if found is None else plain(found)) == number


@pytest.mark.parametrize(
    ("text", "delimiter", "rows"),
    [
        ("a,b\n1,x\n2,y", ",", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        ("\ufeffa;b\r\n1,5;x\r\n", ";", [{"a": "1,5", "b": "x"}]),
        ("a\tb\n1\t2", "\t", [{"a": 1, "b": 2}]),
        ("a|b\n'x'|2", "|", [{"a": "'x'", "b": 2}]),
        ("sep=;\na;b\n1;2", ";", [{"a": 1, "b": 2}]),
        ('a,b\n"x, y","say ""hi""\nthere"', ",", [{"a": "x, y", "b": 'say "hi"\nthere'}]),
        ("id,zip\n1,00501\n2,10001", ",", [{"id": 1, "zip": "00501"}, {"id": 2, "zip": "10001"}]),
        ("a,b / 1,2 / 3,4", ",", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        ("a,b\\n1,2", ",", [{"a": 1, "b": 2}]),
        ("name\nAnn", ",", [{"name": "Ann"}]),
        ('a,b\n"x, y" ,1\n"z"\t, "2, 3" ', ",", [{"a": "x, y", "b": "1"}, {"a": "z", "b": "2, 3"}]),
        ('a;b\n"1;"" ;2" ;3', ";", [{"a": '1;" ;2', "b": 3}]),
        ('note\n"one, two" \nthree', ",", [{"note": "one, two"}, {"note": "three"}]),
        ("note\nhi\nbye, you\nok", ";", [{"note": "hi"}, {"note": "bye, you"}, {"note": "ok"}]),
        ("note\nhi\na,b;c|d\te\nok", "\x1f", [{"note": "hi"}, {"note": "a,b;c|d\te"}, {"note": "ok"}]),
    ],
)
def test_csv_is_read_however_it_was_written(text: str, delimiter: str, rows: list[dict[str, object]]):
    found = read_csv(text)
    assert (found.delimiter, found.rows) == (delimiter, rows)


def test_what_is_odd_about_a_csv_is_told():
    found = read_csv("a,b\n1\n1,2,3\n\n4,5")
    assert found.rows[0] == {"a": 1, "b": None, "column_3": None}
    assert found.notes == [
        "Line 2 has 1 of 2 fields; the missing ones are null.",
        "Line 3 has 3 of 2 fields; the others are in columns of their own.",
    ]
    assert read_csv("a,a\n1,2").columns == ["a", "a_2"]
    assert not read_csv("1,2024-01-01\n2,2024-01-02").header
    assert any("quotes" in note for note in read_csv('a,b\n"x,1\ny,2').notes)
    assert "one column: few lines hold ','. Say" in read_csv("note\nhi\nbye, you\nok").notes[0]
    with pytest.raises(ToolError, match="empty"):
        read_csv(" \n ")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cs",)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), min_size=1, max_size=6))
def test_rows_come_back_from_csv_as_they_were(cells: list[list[str]]):
    rows: list[dict[str, Any]] = [{"one": left, "two": right} for left, right in cells]
    text = write_csv(rows, ["one", "two"])
    assert read_csv(text, delimiter=",", header=True, numbers=False, trim=False).rows == rows


async def test_rows_are_taken_as_json_text_as_csv_and_from_a_file():
    context = Context(files=MemoryFiles(sales_csv="name;n\nJosé;1".encode("cp1252"), rows_json=b'[{"n": 1}]'))
    for rows in ('[{"n": 1}]', '{"rows": [{"n": 1}]}', "n\n1", "/rows.json", [{"n": 1}]):
        assert (await told(data_transform__sort, context, rows=rows, by=["n"]))["rows"] == [{"n": 1}]
    read = await told(data_transform__csv_to_json, context, csv="/sales.csv")
    assert (read["row_count"], read["delimiter"], read["rows"][0]["name"]) == (1, "semicolon", "José")
    for rows, complaint in (("[1]", "no object"), ("[{", "no JSON"), ("/none.csv", "no file"), ('[{"n": NaN}]', "NaN")):
        with pytest.raises(ToolError, match=complaint):
            await told(data_transform__sort, context, rows=rows, by=["n"])


async def test_what_an_old_file_was_read_as_is_told_with_whatever_is_made_of_it():
    context = Context(files=MemoryFiles(a_csv="Имя;Город\nИван;Москва\nПётр;Тверь".encode("cp1251")))
    read = await told(data_transform__csv_to_json, context, csv="/a.csv")
    grouped = await told(data_transform__sort, context, rows="/a.csv", by=["Город"])
    for found in (read, grouped):
        assert (
            found["rows"][0]["Город"] == "Москва" and "/a.csv is no UTF-8; it was read as cp1251" in found["notes"][0]
        )
    chosen = await told(data_transform__csv_to_json, context, csv="/a.csv", encoding="koi8-r")
    assert chosen["rows"][0] != read["rows"][0] and "koi8" not in str(chosen["notes"])


async def test_columns_are_selected_renamed_and_written_as_csv():
    chosen = await told(data_transform__select, rows=SALES, columns=["region", "name"], rename={"name": "who"})
    assert chosen["columns"] == ["region", "who"] and chosen["rows"][0] == {"region": "West", "who": "John"}
    with pytest.raises(ToolError, match="Did you mean 'region'"):
        await told(data_transform__select, rows=SALES, columns=["regoin"])
    written = await told(data_transform__json_to_csv, rows=[{"a": 'x,"', "b": [1]}, {"a": None, "b": True}])
    assert written["csv"] == 'a,b\n"x,""",[1]\n,true\n'


@pytest.mark.parametrize(
    ("conditions", "kept"),
    [
        ([{"column": "amount", "op": ">", "value": 1200.4}], ["John", "Jane", "Bob"]),
        ([{"column": "amount", "op": ">=", "value": "1,500"}], ["John", "Jane"]),
        ([{"column": "region", "op": "=", "value": "West"}, {"column": "name", "op": "!=", "value": "Bob"}], ["John"]),
        ([{"column": "region", "op": "in", "value": ["East", "North"]}], ["Jane", "Eve", "Zoe"]),
        ([{"column": "amount", "op": "empty"}], ["Zoe"]),
        ([{"column": "name", "op": "contains", "value": "o"}], ["John", "Bob", "Zoe"]),
    ],
)
async def test_rows_are_filtered_by_conditions(conditions: list[dict[str, object]], kept: list[str]):
    assert names(await told(data_transform__filter, rows=SALES, conditions=conditions)) == kept


async def test_a_filter_tells_what_it_could_not_compare():
    result = await told(data_transform__filter, rows=SALES, conditions=[{"column": "amount", "op": ">", "value": 1}])
    assert result["removed_count"] == 2 and "'n/a'" in result["notes"][0]


async def test_sorting_takes_numbers_as_numbers_and_keeps_empty_cells_last():
    assert names(await told(data_transform__sort, rows=SALES, by=["amount"])) == ["Bob", "John", "Jane", "Eve", "Zoe"]
    by = ["region", "-amount"]
    assert names(await told(data_transform__sort, rows=SALES, by=by)) == ["Eve", "Jane", "Zoe", "John", "Bob"]


async def test_groups_are_made_and_summed_up_with_what_was_left_out():
    grouped = await told(data_transform__group, rows=SALES, by=["region"])
    assert [(group["region"], group["row_count"]) for group in grouped["groups"]] == [
        ("West", 2),
        ("East", 2),
        ("North", 1),
    ]
    figures = [
        {"function": "sum", "column": "amount"},
        {"function": "count"},
        {"function": "median", "column": "amount"},
    ]
    summed = await told(data_transform__aggregate, rows=SALES, aggregates=figures, group_by=["region"])
    assert summed["rows"][0] == {"region": "West", "sum_amount": 2700.5, "count": 2, "median_amount": 1350.25}
    assert summed["rows"][2] == {"region": "North", "sum_amount": 0, "count": 1, "median_amount": None}
    assert "'n/a'" in summed["notes"][0]
    exact = await told(
        data_transform__aggregate,
        rows=[{"n": 0.1}, {"n": 0.2}],
        aggregates=figures[:1] and [{"function": "sum", "column": "n"}],
    )
    assert exact["rows"] == [{"sum_n": 0.3}]


async def test_tables_are_joined_inner_left_and_outer():
    managers = [{"area": "west", "boss": "Kim", "name": "K"}, {"area": "South", "boss": "Lee", "name": "L"}]
    arguments = {"rows": SALES, "other": managers, "on": ["region"], "other_on": ["area"]}
    inner = await told(data_transform__join, **arguments)
    assert inner["rows"][0] == {"name": "John", "amount": "1,500", "region": "West", "boss": "Kim", "name_other": "K"}
    assert (inner["row_count"], inner["matched_count"], inner["unmatched_count"]) == (2, 2, 4)
    assert (await told(data_transform__join, **arguments, how="left"))["row_count"] == 5
    outer = await told(data_transform__join, **arguments, how="outer")
    assert outer["rows"][-1] == {"name": None, "amount": None, "region": "South", "boss": "Lee", "name_other": "L"}
    many = [{"k": 1}] * 400
    with pytest.raises(ToolError, match="more than 100,000"):
        await told(data_transform__join, rows=many, other=many, on=["k"])


async def test_doubles_are_removed_by_all_or_some_columns():
    rows = [{"m": "a@x.org", "n": 1}, {"m": "A@x.org ", "n": 2}, {"m": "a@x.org", "n": 1}]
    assert (await told(data_transform__deduplicate, rows=rows))["removed_count"] == 1
    kept = await told(data_transform__deduplicate, rows=rows, by=["m"], ignore_case=True, keep="last")
    assert kept["rows"] == [rows[2]]


def test_every_tool_of_the_kit_says_what_it_does_and_may_be_called_twice():
    for tool in data_transform_tools():
        assert tool.spec.kit == "data_transform" and tool.spec.idempotent and len(tool.spec.description) > 40
        assert all("description" in one for one in tool.spec.parameters["properties"].values()), tool.spec.name
