"""REST: what all runs together did, took and cost."""

import csv
import io
import re
from datetime import timedelta
from math import inf

import pytest

from app.domain.provenance import AgentRef, Trigger
from app.domain.trace import ModelTally, RunRow, ToolTally
from app.domain.values import now
from app.workbench import Workbench

ODD = 'odd "model"\\with\nlines'


async def save(workbench: Workbench, number: int, *models: ModelTally, days_ago: int = 0, **changes: object) -> None:
    agent = workbench.agents.by_slug("assistant")
    row = RunRow(
        run_id=f"r{number}",
        session_id="s",
        agent=AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=1),
        model="openai/small",
        status="completed",
        request="?",
        purpose="chat",
        trigger=Trigger(kind="page"),
        started_at=now() - timedelta(days=days_ago),
        duration_ms=2000,
        models=models,
    )
    await workbench.rows.save(row.model_copy(update=changes))


def asked(model: str = "openai/small", **changes: object) -> ModelTally:
    tally = ModelTally(
        model=model, provider="openai", calls=2, input_tokens=100, cached_tokens=40, output_tokens=10, cost=250_000_000,
        times={60: 1, 80: 1}, first_token_times={40: 2},
    )  # fmt: skip
    return tally.model_copy(update=changes)


@pytest.fixture
async def seeded(workbench: Workbench) -> Workbench:
    add = ToolTally(name="add", calls=3, failures=1, times={4: 3})
    await save(
        workbench, 1, asked(), asked("openai/large", cost=750_000_000), tools=(add,), queued=2, waits={60: 1, 80: 1}
    )
    await save(workbench, 2, asked(failures={"timeout": 1}, retries=1), status="failed", failure="network", days_ago=1)
    await save(workbench, 3, asked(ODD, provider="", unpriced=2), purpose="experiment", unpriced=True, days_ago=40)
    return workbench


async def told(client, **query: object) -> dict:
    answer = await client.get("/usage", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_usage_is_told_apart_by_what_one_asks_for(client, seeded: Workbench):
    usage = await told(client, by="model", days=7)
    assert [(row["of"], row["cost_usd"], row["model_calls"]) for row in usage["rows"]] == [
        ({"model": "openai/large"}, 0.75, 2),
        ({"model": "openai/small"}, 0.5, 4),
    ]
    totals = usage["totals"]
    assert (totals["runs"], totals["failed"], totals["failures"]) == (2, 1, {"network": 1})
    assert (totals["retries"], totals["model_failures"], totals["cost_usd"]) == (1, {"timeout": 1}, 1.25)
    assert (totals["input_tokens"], totals["cached_tokens"], totals["tool_calls"]) == (300, 120, 3)
    assert totals["first_token_ms"]["p50"] == pytest.approx(100, rel=0.06)
    assert (totals["queued"], totals["queue_ms"]["p95"]) == (2, pytest.approx(10_000, rel=0.06))
    assert (await told(client, days=60))["totals"]["unpriced_calls"] == 2


async def test_usage_is_that_of_what_one_names(client, seeded: Workbench):
    assert (await told(client, model="openai/large"))["totals"]["cost_usd"] == 0.75
    assert (await told(client, purpose="experiment", days=60, by="purpose,agent"))["rows"][0]["of"] == {
        "agent": "assistant",
        "purpose": "experiment",
    }
    assert (await told(client, agent="assistant"))["totals"]["runs"] == 2
    assert (await client.get("/usage?agent=nobody")).status_code == 404
    assert "by 'colour'" in (await client.get("/usage?by=colour")).json()["error"]


async def test_usage_of_certain_days_is_told_as_a_table_too(client, seeded: Workbench):
    today = now().astimezone().date()
    day = {"since": str(today - timedelta(days=1)), "until": str(today - timedelta(days=1))}
    assert (await told(client, **day))["totals"]["cost_usd"] == 0.25
    assert (await told(client, since=str(today - timedelta(days=45))))["totals"]["unpriced_calls"] == 2
    await save(seeded, 4, asked('=HYPERLINK("http://evil")'), days_ago=1)
    answer = await client.get("/usage", params={"by": "day,model", "format": "csv", **day})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="usage-{day["since"]}-{day["since"]}.csv"'
    first, *rows = csv.DictReader(io.StringIO(answer.text))
    assert (first["day"], first["model"]) == (day["since"], '\'=HYPERLINK("http://evil")')
    assert [(row["model"], row["cost_usd"], row["at_usd"]) for row in rows] == [("openai/small", "0.25", "")]
    assert (await client.get("/usage?format=csv&by=tool&days=1")).text.splitlines()[1].startswith("add,0,0,")


async def test_usage_until_one_of_the_first_days_there_are_has_none(client, seeded: Workbench):
    usage = await told(client, until="0001-01-02")
    assert (usage["since"], usage["until"], usage["totals"]["runs"]) == ("0001-01-01", "0001-01-02", 0)
    assert (await told(client, days=2, until="9999-12-31"))["since"] == "9999-12-30"


async def test_usage_is_told_at_another_price(client, seeded: Workbench):
    await save(seeded, 4, asked("openai/gpt-4o", input_tokens=1000, cached_tokens=400))
    price = seeded.models.price("openai/gpt-4o")
    usage = await told(client, by="model", model="openai/gpt-4o", at="gpt-4o")
    expected = 600 * price.input + 400 * price.cached + 10 * price.output
    assert usage["rows"][0]["at_usd"] == usage["totals"]["at_usd"] == pytest.approx(expected, abs=1e-12)
    assert usage["totals"]["saved_usd"] == pytest.approx(400 * (price.input - price.cached), abs=1e-12)
    whole = (await told(client, days=2))["totals"]
    assert whole["saved_usd"] is None and whole["at_usd"] is None  # of one model nobody knows what caching saves
    assert (await client.get("/usage?at=nobody/knows")).status_code == 404


async def test_metrics_have_each_day_since_the_first_one(client, seeded: Workbench):
    metrics = (await client.get("/metrics?days=60")).json()["data"]
    assert len(metrics["days"]) == 41
    assert [day["runs"] for day in metrics["days"]] == [1, *[0] * 38, 1, 1]
    assert [row["of"] for row in metrics["tools"]] == [{"tool": "add"}]
    assert metrics["tools"][0]["tool_failures"] == 1
    assert (metrics["live_runs"], metrics["waiting_messages"]) == (0, 0)


async def test_a_run_that_ends_is_in_the_figures_at_once(client, workbench: Workbench):
    run = await client.post("/agents/assistant/run", json={"input": "What is 5 + 10?"})
    assert run.status_code == 200
    usage = await told(client, by="model,tool")
    assert usage["totals"]["runs"] == 1
    assert usage["totals"]["output_tokens"] == run.json()["data"]["metrics"]["tokens_output"] > 0
    assert [row["of"] for row in usage["rows"]] == [{"model": "demo/agent", "tool": "calculator"}]


NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
VALUE = r'"(?:[^"\\\n]|\\["\\n])*"'
LINE = re.compile(rf"(?P<name>{NAME})(?:\{{(?P<labels>{NAME}={VALUE}(?:,{NAME}={VALUE})*)\}})? (?P<value>\S+)")
LABEL = re.compile(f"({NAME})=({VALUE})")


def scraped(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """As strictly as the text of the format has it: each name once, its help and type before it, buckets that grow."""
    assert text.endswith("\n")
    found: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    kinds: dict[str, str] = {}
    helped, current = "", ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
        elif line.startswith("# TYPE "):
            current, kind = line.split(" ")[2:]
            assert current == helped
            assert current not in kinds
            assert kind in ("counter", "gauge", "histogram")
            kinds[current] = kind
        else:
            match = LINE.fullmatch(line)
            assert match, line
            suffix = match["name"].removeprefix(current)
            assert suffix in (("_bucket", "_sum", "_count") if kinds[current] == "histogram" else ("",))
            key = match["name"], tuple(LABEL.findall(match["labels"] or ""))
            assert key not in found
            found[key] = float(match["value"])
    for name in [name for name, kind in kinds.items() if kind == "histogram"]:
        check_buckets(name, found)
    return found


def check_buckets(name: str, found: dict[tuple[str, tuple[tuple[str, str], ...]], float]) -> None:
    counts = {labels: value for (said, labels), value in found.items() if said == f"{name}_count"}
    for labels, count in counts.items():
        buckets = [
            (float(dict(one)["le"].strip('"').replace("+Inf", "inf")), value)
            for (said, one), value in found.items()
            if said == f"{name}_bucket" and tuple(pair for pair in one if pair[0] != "le") == labels
        ]
        assert buckets == sorted(buckets)
        assert [value for _, value in buckets] == sorted(value for _, value in buckets)
        assert buckets[-1] == (inf, count)


async def test_prometheus_reads_the_figures_since_the_first_run(client, seeded: Workbench):
    answer = await client.get("http://here/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = scraped(answer.text)
    assert found["agent_playground_live_runs", ()] == found["agent_playground_waiting_messages", ()] == 0
    waits = [value for (name, _), value in found.items() if name == "agent_playground_queue_seconds_count"]
    assert waits == [2]
    assert sum(value for (name, _), value in found.items() if name == "agent_playground_cost_dollars_total") == 1.5
    labels = [dict(labels) for name, labels in found if name == "agent_playground_unpriced_calls_total"]
    assert [one["model"] for one in labels] == ['"odd \\"model\\"\\\\with\\nlines"']
    failed = {
        dict(labels)["class"]: value for (name, labels), value in found.items() if name.endswith("model_failures_total")
    }
    assert failed == {'"timeout"': 1}
