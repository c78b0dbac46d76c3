from dataclasses import replace

import pytest

from app.domain.trace import RunStatus
from app.ui.conversation.figures import Ceiling, Figures
from app.ui.conversation.session_bars import (
    SessionFacts,
    kpi_strip,
    session_chips,
    session_heading,
    sparkline,
    status_line,
)

FACTS = SessionFacts(
    agent="Assistant <b>",
    icon="bolt",
    status="completed",
    turns=[Figures(1000, 234, 0.5, False, [200, 400, 900], [50]), Figures(10, 0)],
    ceiling=Ceiling(0.35, "35 % of $1 a run"),
)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "Ready"),
        ("completed", "Ready"),
        ("interrupted", "Ready"),
        ("running", "Running"),
        ("paused", "Paused"),
        ("failed", "Failed"),
    ],
)
def test_a_session_is_ready_running_paused_or_failed(status: RunStatus | None, words: str) -> None:
    facts = replace(FACTS, status=status)
    assert f">{words}</dd>" in kpi_strip(facts).replace("<dd>", ">")
    assert f"{words}</span>" in session_heading(facts)


def test_the_heading_names_agent_and_sums() -> None:
    html = session_heading(FACTS) + session_chips(FACTS)
    for piece in ("Assistant &lt;b&gt;", "1,244 tokens", "$0.50"):
        assert piece in html


def test_costs_near_the_ceiling_warn() -> None:
    assert "is-warn" not in kpi_strip(FACTS) + session_chips(FACTS)
    near = replace(FACTS, ceiling=Ceiling(0.8, "80 % of $1 a run"))
    assert "is-warn" in kpi_strip(near)
    assert "is-warn" in session_chips(near) and "<small>80 %</small>" in session_chips(near)
    assert "35 %" in kpi_strip(FACTS) and "35 %<" not in session_chips(FACTS)


def test_tokens_near_their_ceiling_warn() -> None:
    near = replace(FACTS, token_ceiling=Ceiling(0.9, "90 % of 1,000 tokens a run"))
    assert "is-warn" in kpi_strip(near) and "<small>90 %</small>" in session_chips(near)
    assert "is-warn" not in kpi_strip(replace(FACTS, token_ceiling=Ceiling(0.1, "")))


def test_latency_is_the_median() -> None:
    assert "0.4 s" in kpi_strip(FACTS)
    assert "first token 50 ms" in kpi_strip(FACTS)


def test_a_sparkline_needs_two_values() -> None:
    assert sparkline([1]) == ""
    assert sparkline([0, 0]).count("<polyline") == 1
    assert 'points="0.0,22.0 64.0,2.0"' in sparkline([0, 5])


def test_the_turn_that_goes_on_is_not_in_the_sparkline_yet() -> None:
    ended = replace(FACTS, turns=[Figures(10), Figures(20), Figures(3)])
    assert 'points="0.0,12.0 32.0,2.0 64.0,19.0"' in kpi_strip(ended)
    assert 'points="0.0,12.0 64.0,2.0"' in kpi_strip(replace(ended, status="running"))


def test_what_is_not_on_disk_is_said() -> None:
    line = status_line(running=True, version="1.2.3", unsaved="The disk is full.")
    for piece in ("Streaming", "v1.2.3", "Not saved yet: The disk is full."):
        assert piece in line
    assert "Idle" in status_line(running=False, version="1", unsaved=None)


def test_a_run_that_waits_for_a_decision_is_not_said_to_stream() -> None:
    line = status_line(running=True, waits=True, version="1", unsaved=None)
    assert "Waiting for you" in line and "Streaming" not in line


def test_what_tasks_and_other_branches_cost_is_said_beside_the_cost_of_this_one() -> None:
    assert "in all" not in kpi_strip(FACTS) + kpi_strip(replace(FACTS, in_all=0.5))
    strip = kpi_strip(replace(FACTS, in_all=0.8))
    assert "$0.80 in all" in strip and "the tasks that it started and its other branches" in strip
