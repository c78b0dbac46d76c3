"""Whatever a file says more than this app knows is told: fields of any name, put anywhere into real files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export.datasets import adk, inspect_log, json_lines, openai_evals, promptfoo
from app.export.datasets.core_yaml import read_yaml

FILES = Path(__file__).parent / "files"
FREE = ("args", "state", "vars", "item", "metadata", "attachments", "tool_input", "response", "arguments", "variables")
"""Objects in which any name is one of the user's own."""


def lines_of(name: str) -> list[object]:
    written = (FILES / name).read_text()
    return [json.loads(line) for line in written.splitlines() if line] if name.endswith("l") else [json.loads(written)]


FORMATS = {
    "promptfoo": (promptfoo.read_cases, [read_yaml((FILES / "promptfooconfig.yaml").read_bytes(), "f")]),
    "adk": (adk.read_cases, lines_of("home_automation.evalset.json")),
    "older adk": (adk.read_cases, lines_of("older.test.json")),
    "inspect": (inspect_log.read_cases, lines_of("inspect.json")),
    "openai": (openai_evals.read_cases, lines_of("samples.jsonl")),
    "ours": (json_lines.read_cases, lines_of("ours.jsonl")),
}
WHOLE = {
    "promptfoo": r"0\.(providers|evaluateOptions|defaultTest\.options"
    r"|tests\.0\.assert\.[12]|tests\.1\.assert\.2|tests\.4\.assert\.(0\.value|4)).*",
    "adk": r".*\.(intermediate_responses|rubrics|inlineData)\b.*",
    "older adk": "-",
    "inspect": r"0\.(eval|plan|results|samples\.\d\.(messages|output|scores)|samples\.1|samples\.2\.input\.0).*",
    "openai": r"0\.input\.0|2\.sample|3\.input\.0\.content\.1.*",
    "ours": "-",
}
"""Paths of what is told as left out as a whole, so that no more is told of what stands in it."""
NAMES = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=3, max_size=20).map(lambda name: f"zz_{name}")


def places(told: object, path: str = "") -> Iterator[tuple[str, dict]]:
    """The objects whose names have a meaning to the format, by their paths."""
    if isinstance(told, dict):
        yield path, told
        for name, value in told.items():
            if name not in FREE:
                yield from places(value, f"{path}.{name}")
    elif isinstance(told, list):
        for number, one in enumerate(told):
            yield from places(one, f"{path}.{number}" if path else str(number))


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data(), name=NAMES)
def test_a_field_that_nobody_knows_is_told_wherever_it_stands(format, data, name):
    read, lines = FORMATS[format]
    told = json.loads(json.dumps(lines))
    known = [(path, place) for path, place in places(told) if not re.fullmatch(WHOLE[format], path)]
    _, place = data.draw(st.sampled_from(known))
    place[name] = "something new"
    notes = read(b"\n".join(json.dumps(line).encode() for line in told), "f", judge="demo/agent").notes
    assert any(name.rstrip("_") in note for note in notes), notes
