"""The table of who may what has a row for each route of the API, and no row for what is none."""

from pathlib import Path

from app.workbench import Workbench
from tests.api.over import api_over, opened
from tests.door import Target, targets
from tests.rights_table import AT_THE_DOOR, OPEN, OWNERS, TABLE, without_a_route, without_a_row


async def addresses(folder: Path) -> list[Target]:
    workbench: Workbench = opened(folder)
    try:
        return [*targets(api_over(workbench).routes), *AT_THE_DOOR]
    finally:
        await workbench.close()


async def test_each_route_of_the_api_has_its_row_and_each_row_its_route(tmp_path: Path):
    asked = await addresses(tmp_path)
    assert without_a_row(asked) == set()
    assert without_a_route(asked) <= set(OWNERS | OPEN)  # those `test_door` looks for in the running app


async def test_a_new_route_is_missed_in_the_table_and_an_old_one_among_the_routes(tmp_path: Path):
    asked = await addresses(tmp_path)
    assert without_a_row([*asked, Target("PATCH", "/api/v1/runs/x")]) == {"PATCH /api/v1/runs/x"}
    assert without_a_row([Target("SOCKET", "/api/v1/new")]) == {"SOCKET /api/v1/new"}
    gone = [target for target in asked if target != Target("DELETE", "/api/v1/runs/x")]
    assert without_a_route(gone) - set(OWNERS | OPEN) == {"DELETE /api/v1/runs/{run}"}


def test_what_a_key_may_only_with_a_right_is_what_it_may_not_without():
    assert {row.right for row in TABLE} == {"", "approve", "variants", "evals"}
    assert all(row.limited != "no" for row in TABLE if row.right)
