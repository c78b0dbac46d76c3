"""The cases of a dataset, filtered by a tag."""

from pathlib import Path

from nicegui import ui

from app.domain.evals.cases import CaseContent, new_cases
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until


async def test_a_tag_that_no_case_has_can_be_taken_away_again(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        dataset = await workbench.collecting.new_dataset("Sums")
        await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="What is 1 + 2?")]))
        await user.open("/evals/sums?tag=gone")
        await sees(user, "No case fits")
        tags = the(user, "case-tag")
        assert isinstance(tags, ui.select)
        assert tags.value == "gone"
        tags.value = "All tags"
        await until(lambda: marked(user, "case-list"))
        await sees(user, "1 case")
