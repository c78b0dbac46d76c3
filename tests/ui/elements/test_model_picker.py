"""The list of models, as it takes what was clicked."""

import asyncio
import re
from pathlib import Path

import pytest
from nicegui import Client, core
from nicegui.page import page

from app.ui.elements.model_picker import ModelPicker
from tests.api.over import opened


async def test_the_model_that_was_clicked_is_taken_though_the_list_has_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    taken: list[str | None] = []

    async def choose(model: str | None) -> None:
        taken.append(model)

    workbench = opened(tmp_path)
    with Client(page("")) as client:
        picker = ModelPicker(workbench, "demo/agent", choose, reset="Use the variant's model", will_ask=False)
        await picker.open()
        assert picker._list is not None
        before = re.findall(r'data-model="([^"]*)"', picker._list.content)
        assert before[0] == "" and "demo/agent" in before
        picker._query = "claude"
        picker._show_options()
        assert "demo/agent" not in picker._list.content
        await picker._clicked("demo/agent")
        await picker._clicked("")
    assert taken == ["demo/agent", None]
    client.delete()
    await workbench.close()
