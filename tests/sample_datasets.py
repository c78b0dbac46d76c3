"""The datasets that come with the app, made of real runs of the sample agents: `python -m tests.sample_datasets`.

Where the demo model fails, a run of a plainer question shows which calls a good answer makes, and what these give.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.domain.evals.cases import Case, ExpectedCall
from app.domain.evals.scorers import Check, Checks, Contains, JsonMatch, Regex, Scorer, Trajectory
from app.domain.events import Entry
from app.export.datasets.json_lines import VERSION
from app.workbench import Workbench

ASSETS = Path(__file__).parent.parent / "assets" / "datasets"
THEN = datetime(2026, 1, 1, tzinfo=UTC)
SCORERS: tuple[Scorer, ...] = (Checks(), Trajectory(relation="at_least", arguments="contain"))


@dataclass
class Sample:
    asked: str
    checks: tuple[Check, ...]
    reference: str
    tags: tuple[str, ...] = ()
    then: str = ""
    """A second message."""
    plainer: str = ""
    """What the demo model is asked to show the calls, where it does not understand `asked`."""
    must_pass: bool = False
    open_calls: bool = False
    """Whether other calls than those of the demo model are as good."""


@dataclass
class SampleDataset:
    agent: str
    name: str
    description: str
    samples: Sequence[Sample] = field(default_factory=list)
    file: str = ""
    """Its name in the assets, without its end; that of the agent where nothing is said."""
    scorers: tuple[Scorer, ...] = SCORERS
    recorded: bool = True
    """Whether its cases hold what tools gave; else these are called."""

    @property
    def path(self) -> Path:
        return ASSETS / f"{self.file or self.agent}.jsonl"


def has(*texts: str, name: str = "says it", any_of: bool = False) -> Contains:
    return Contains(name=name, texts=texts, mode="any" if any_of else "all")


def number(text: str) -> Regex:
    """The number, not as a part of another one."""
    return Regex(name="the number", pattern=rf"(^|[^0-9.,]){text}($|[^0-9.,]|[.,]($|[^0-9]))")


SUMS = SampleDataset(
    "math-tutor",
    "Math tutor sums",
    "Questions for the Math tutor. The demo model gets the sums right and does not understand the word problems.",
    [
        Sample("What is 12 * 7?", (number("84"),), "84", ("one step",), must_pass=True),
        Sample("What is 5 + 10, then multiply by 3?", (number("45"),), "45", ("two steps",), must_pass=True),
        Sample("What is (8 - 3) * 4?", (number("20"),), "20", ("two steps",)),
        Sample("What is 15% of 80?", (number("12"),), "12", ("two steps",)),
        Sample("What is 1 divided by 8?", (has("0.125", "1/8", any_of=True),), "0.125", ("one step",)),
        Sample("What is 1,250 plus 375?", (number("1,?625"),), "1625", ("one step",)),
        Sample("What is 2 ^ 10?", (number("1,?024"),), "1024", ("one step",)),
        Sample("What is 10 divided by 0?", (has("zero", "undefined", any_of=True),), "It has no answer.", ("errors",)),
        Sample("Calculate 2 + 2 and 3 + 3 in parallel", (number("4"), number("6")), "4 and 6", ("in parallel",)),
        Sample("What is 100 minus 45?", (number("110"),), "110", ("two turns",), then="times 2"),
        Sample(
            "Anna has three apples and buys four more. How many does she have?",
            (Regex(name="the number", pattern=r"(?i)\b(7|seven)\b"),),
            "7",
            ("word problem",),
            plainer="What is 3 + 4?",
        ),
        Sample(
            "Solve 3x + 4 = 19 for x",
            (Regex(name="x", pattern=r"(?i)\bx\W{0,6}(5|five)\b"),),
            "x = 5",
            ("word problem",),
            plainer="What is 19 - 4, then divided by 3?",
        ),
    ],
)


def long_sum(length: int, first: int) -> Sample:
    """One with so many calculations, each of which needs the one before."""
    told, result = str(first), first
    for place in range(length):
        number_, sign = (first * 3 + place * 5) % 9 + 2, "+-*"[(first + place) % 3 if place % 4 else 0]
        told = f"({told}) {sign} {number_}" if place else f"{told} {sign} {number_}"
        result = {"+": result + number_, "-": result - number_, "*": result * number_}[sign]
    digits = f"{abs(result):,}".replace(",", ",?")
    tags = ("more than ten steps",) if length >= 10 else ("few steps",)
    return Sample(f"What is {told}?", (number(digits),), str(result), tags, open_calls=True)


LONG_SUMS = SampleDataset(
    "math-tutor",
    "Math tutor, long sums",
    "Most of them need more steps than the Math tutor may take: a dataset on which Suggest finds something better.",
    [long_sum(3 + place % 4 if place % 3 == 0 else 10 + place % 3, place + 2) for place in range(36)],
    file="math-tutor-long",
    scorers=(Checks(),),
    recorded=False,
)

AMOUNTS = "name,date,amount,region\nJohn,1/15/24,1500,West\nJane,2024-02-20,2000,East\nBob,March 5 2024,1200,West"
TABLES = SampleDataset(
    "table-cleaner",
    "Table cleaner tables",
    "Tables for the Table cleaner and for agents made from the template Data cleanup agent. The demo model reads dates "
    "and adds up; what else is asked of it, such as to sort, it passes over.",
    [
        Sample(
            f"Clean up this CSV and total the amounts by region:\n\n{AMOUNTS}",
            (
                has("2024-01-15", "2024-02-20", "2024-03-05", name="dates"),
                Regex(name="sum of West", pattern=r"2,?700"),
            ),
            "West 2700, East 2000",
            ("dates", "sums"),
            must_pass=True,
        ),
        Sample(
            f"Clean up this CSV and total the amounts by region, as JSON:\n\n{AMOUNTS}",
            (JsonMatch(name="sums", expected={"totals_by_region.West": 2700, "totals_by_region.East": 2000}),),
            "West 2700, East 2000",
            ("dates", "sums", "json"),
        ),
        Sample(
            "Clean up this table:\n\nproduct;sold on;price\nTea;03.02.2024;2,50\nCoffee;2024-02-04;3,20\n"
            "Tea;Feb 5, 2024;2,50",
            (has("2024-02-04", "2024-02-05", name="dates"), has("2024-03-02", name="says what else it may mean")),
            "03.02.2024 may be 2024-02-03 or 2024-03-02.",
            ("dates", "doubts"),
        ),
        Sample(
            "Clean up this CSV:\n\nitem,bought,price\nPen,02/03/2024,1.20\nInk,05/06/2024,7.80",
            (has("2024-03-02", "2024-06-05", name="says what else they may mean"),),
            "Both dates may be meant either way.",
            ("dates", "doubts"),
        ),
        Sample(
            "Clean up this CSV:\n\nname,joined,hours\nAda,2024-05-01,12\nBen,,7\nCy,4 May 2024,",
            (has("2024-05-04", name="date"), Regex(name="Ben stays without a date", pattern=r"Ben *\| *([-–—]? *)\|")),
            "Ben has no date, Cy no hours.",
            ("dates", "gaps"),
            must_pass=True,
        ),
        Sample(
            "Clean up this CSV and total the amounts:\n\nentry,date,amount\nSale,2024-06-01,120\n"
            "Refund,June 2 2024,-20",
            (has("2024-06-02", name="date"), number("100")),
            "100",
            ("dates", "sums"),
        ),
        Sample(
            "Clean up this CSV and total the amounts by city:\n\ncustomer,city,date,amount\n"
            '"Smith, Ann",Rome,2024-07-01,10\n"Lee, Bo",Oslo,July 2 2024,5\n"Diaz, Cy",Rome,3 Jul 2024,2.5',
            (has("Smith, Ann", "2024-07-02", "2024-07-03", "12.5"),),
            "Rome 12.5, Oslo 5",
            ("dates", "sums"),
        ),
        Sample(
            "Clean up this CSV, leave out rows that are there twice, and total the amounts:\n\nname,date,amount\n"
            "Ada,2024-08-01,10\nAda,2024-08-01,10\nBen,2 Aug 2024,5",
            (has("2024-08-02", name="date"), number("15")),
            "15",
            ("rows",),
            open_calls=True,
        ),
        Sample(
            "Clean up this CSV and sort it by amount, the largest first:\n\nname,date,amount\nAda,2024-08-01,10\n"
            "Ben,2 Aug 2024,50\nCy,3 Aug 2024,30",
            (has("2024-08-03", name="date"), Regex(name="in order", pattern=r"(?s)Ben.*Cy.*Ada")),
            "Ben, Cy, Ada",
            ("rows",),
            open_calls=True,
        ),
        Sample(
            "Clean up this table and say the average price:\n\nproduct,date,price\nTea,2024-09-01,2.5\n"
            "Milk,2 Sep 2024,4",
            (has("2024-09-02", name="date"), has("3.25", name="the average")),
            "3.25",
            ("sums",),
            open_calls=True,
        ),
    ],
)


async def lines_of(workbench: Workbench, made: SampleDataset) -> list[dict]:
    """The dataset as its file has it, out of runs of the agent."""
    dataset = await workbench.collecting.new_dataset(made.name)
    lines: list[dict] = [
        {
            "format": "agent-playground/dataset",
            "name": made.name,
            "description": made.description,
            "scorers": [scorer.model_dump(mode="json") for scorer in made.scorers],
            "primary": "checks",
        }
    ]
    for sample in made.samples:
        if not made.recorded:
            lines.append(_line(sample))
            continue
        runs = await asked(workbench, made.agent, [sample.plainer or sample.asked, *filter(None, [sample.then])])
        case = await workbench.collecting.from_turns(dataset.id, runs)
        record = await workbench.collecting.record_of(case)
        lines.append(_line(sample, case, list(_timeless(record))))
    return [{"version": VERSION, **line} for line in lines]


async def asked(workbench: Workbench, agent: str, messages: Sequence[str]) -> list[str]:
    """The runs in which the agent answered these messages of one conversation."""
    session = await workbench.chat.new_session(workbench.agents.by_slug(agent).id)
    runs: list[str] = []
    for message in messages:
        live = await workbench.chat.send(session.id, message)
        await live.ended()
        runs.append(live.run_id)
    return runs


def _line(sample: Sample, case: Case | None = None, record: Sequence[dict] = ()) -> dict:
    calls: tuple[ExpectedCall, ...] | None = None if sample.open_calls or case is None else case.expected_calls
    said = {
        "input": sample.asked,
        "turns": list(case.turns) if case else [],
        "variables": case.variables if case else {},
        "reference": sample.reference,
        "expected_calls": None if calls is None else [call.model_dump(mode="json") for call in calls],
        "checks": [check.model_dump(mode="json") for check in sample.checks],
        "tags": list(sample.tags),
        "must_pass": sample.must_pass,
        "record": list(record),
    }
    return {"format": "agent-playground/case", **{name: value for name, value in said.items() if value}}


def _timeless(record: Sequence[Entry]) -> Iterator[dict]:
    """The record without what differs from run to run."""
    for place, entry in enumerate(record):
        event = entry.event
        timed = event.model_copy(update={"ms": 0.0}) if "ms" in type(event).model_fields else event
        yield entry.model_copy(update={"run_id": "sample", "seq": place, "at": THEN, "event": timed}).model_dump(
            mode="json"
        )


def written(lines: Sequence[dict]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


async def make() -> None:
    workbench = Workbench.open(Path(tempfile.mkdtemp()), demo_pace=0)
    await workbench.start()
    for made in (SUMS, LONG_SUMS, TABLES):
        made.path.write_text(written(await lines_of(workbench, made)), encoding="utf-8")
    await workbench.close()


if __name__ == "__main__":
    asyncio.run(make())
