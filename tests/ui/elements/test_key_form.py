"""The form of a provider's key, while another provider is chosen."""

from pathlib import Path

from nicegui import ui
from nicegui.testing.user_interaction import UserInteraction

from app.ui.elements.key_form import KeyForm
from app.ui.elements.provider_views import short_form_view
from tests.ui.runs.test_runs_pages import sees, visitor
from tests.waiting import until

KEY = "sk-proj-0123456789abcdefghij0123456789abcdefghij"


async def test_a_key_that_is_checked_leaves_the_form_of_another_provider_alone(tmp_path: Path):
    working: list[str] = []

    async def on_working(name: str) -> None:
        working.append(name)

    async with visitor(tmp_path) as (user, workbench):
        desk = workbench.provider_desk
        await user.open("/jobs")
        with user.current_layout, ui.element("div") as place:
            form = KeyForm(workbench, on_working)
        shown = next(one for one in place.descendants() if isinstance(one, ui.html))
        form.show("openai")
        UserInteraction(user, {shown}, None).trigger("submit", {"key:key": KEY})
        await sees(user, "Checking…")
        form.show("anthropic")
        await until(lambda: desk.state("openai").has_key)
        UserInteraction(user, {shown}, None).trigger("submit", {"key:key": ""})
        await sees(user, "Paste your key of Anthropic first.")
        assert shown.content == short_form_view(desk.state("anthropic"))
        assert working == []
