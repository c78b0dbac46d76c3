from hypothesis import given
from hypothesis import strategies as st

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice
from app.domain.differences import differences, word_runs
from app.domain.prompts import MOST_FAULTS, faults
from tests.processor import at_work


@given(st.text(), st.text())
def test_both_prompts_can_be_read_out_of_the_runs(before, after):
    runs = list(word_runs(before, after))
    assert "".join(run.text for run in runs if run.kind != "added") == before
    assert "".join(run.text for run in runs if run.kind != "removed") == after


def test_a_changed_word_is_the_only_change():
    runs = [(run.kind, run.text) for run in word_runs("Be very brief.", "Be very kind.")]
    assert runs == [("same", "Be very "), ("removed", "brief"), ("added", "kind"), ("same", ".")]


def test_settings_limits_and_tools_are_compared_by_name():
    before = PromptBehaviour(tools=(ToolChoice(name="a"), ToolChoice(name="b")), parameters=Parameters(temperature=0.1))
    after = PromptBehaviour(
        model="openai/gpt-4o",
        tools=(ToolChoice(name="a", policy="ask"),),
        limits=Limits(max_steps=3),
        parameters=Parameters(),
    )
    changes = {(c.area, c.name): (c.before, c.after) for c in differences(before, after).changes}
    assert changes == {
        ("settings", "model"): ("demo/agent", "openai/gpt-4o"),
        ("settings", "temperature"): ("0.1", ""),
        ("limits", "max_steps"): ("10", "3"),
        ("tools", "a"): ("auto", "ask"),
        ("tools", "b"): ("auto", ""),
    }


def test_equal_behaviours_have_no_differences():
    assert differences(PromptBehaviour(system_prompt="x"), PromptBehaviour(system_prompt="x")).none


def test_a_huge_prompt_is_compared_by_lines_and_quickly():
    before = "".join(f"line {number}\n" for number in range(20_000))
    after = before.replace("line 7000\n", "line seven thousand\n")
    assert [run.kind for run in word_runs(before, after)] == ["same", "removed", "added", "same"]


def test_faults_of_variables_are_named():
    found = [(f.fault, f.name) for f in faults("{{a}} {{ two words }} {{b}} {{c", ("a", "z"))]
    assert found == [("bad_name", "two words"), ("undeclared", "b"), ("unclosed", "c"), ("unused", "z")]


def test_nested_braces_are_a_bad_name():
    assert [f.fault for f in faults("{{a {{b}} }}", ("b",))] == ["bad_name"]


def test_one_word_in_a_huge_line_is_the_only_change():
    before = "same words " * 20_000 + "old end"
    runs = [(run.kind, run.text[-4:]) for run in word_runs(before, before.replace("old", "new"))]
    assert runs == [("same", "rds "), ("removed", "old"), ("added", "new"), ("same", " end")]


def test_thousands_of_braces_are_compared_and_looked_through_quickly():
    with at_work() as work:
        assert "".join(run.text for run in word_runs("{" * 5000, "{}" * 2500) if run.kind != "removed") == "{}" * 2500
        assert len(faults("{{" * 100_000, ())) == MOST_FAULTS
        assert len(faults("{{a " * 50_000 + "}}", ("a",))) == MOST_FAULTS
    assert work.seconds < 2
