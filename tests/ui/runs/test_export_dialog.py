"""What would be taken out of an export is looked for anew with each choice."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from nicegui import Client, core
from nicegui.page import page

from app.domain.errors import WorkbenchError
from app.export.exports import Choice, Exports
from app.export.redacting import Redaction
from app.ui.runs.export_dialog import ExportDialog
from tests.api.over import opened
from tests.waiting import until

FOUND = Redaction(run_id="r1", seq=1, kind="API key", masked="sk-…", field="text")


@pytest.fixture(autouse=True)
async def _loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())


async def test_what_cannot_be_exported_can_be_once_something_else_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def preview(_: Exports, _run_ids: Sequence[str], choice: Choice) -> tuple[Redaction, ...]:
        if choice.attachments:
            raise WorkbenchError("Its images and files are too much for one file.")
        return ()

    monkeypatch.setattr(Exports, "preview", preview)
    workbench = opened(tmp_path)
    with Client(page("")) as client:
        dialog = ExportDialog(workbench, ("r1",))
        await until(lambda: "too much" in dialog._preview.content)
        assert not dialog._download.enabled
        dialog._attachments.value = False
        await until(lambda: "None were found" in dialog._preview.content)
        assert dialog._download.enabled
    client.delete()
    await workbench.close()


async def test_a_look_that_takes_long_takes_no_place_of_one_that_was_asked_for_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    let_go, ended = asyncio.Event(), list[bool]()

    async def preview(_: Exports, _run_ids: Sequence[str], choice: Choice) -> tuple[Redaction, ...]:
        if choice.attachments:
            await let_go.wait()
        ended.append(choice.attachments)
        return (FOUND,) if choice.attachments else ()

    monkeypatch.setattr(Exports, "preview", preview)
    workbench = opened(tmp_path)
    with Client(page("")) as client:
        dialog = ExportDialog(workbench, ("r1",))
        await asyncio.sleep(0)
        dialog._attachments.value = False
        await until(lambda: ended == [False])
        let_go.set()
        await until(lambda: ended == [False, True])
        await asyncio.sleep(0.01)
        assert "None were found" in dialog._preview.content
    client.delete()
    await workbench.close()
