"""The form of what a run is given."""

from nicegui import ui
from nicegui.testing.user_interaction import UserInteraction
from nicegui.testing.user_simulation import user_simulation

from app.domain.tools import JsonSchema
from app.ui.schema_form.run_form import asked_for_input
from tests.ui.runs.test_runs_pages import marked, the
from tests.waiting import until

TAKES: JsonSchema = {"type": "object", "properties": {"text": {"type": "string"}}}


async def test_what_was_typed_into_it_is_not_lost_by_escape_or_a_click_beside_it():
    async with user_simulation(lambda: ui.button("Run", on_click=lambda: asked_for_input(TAKES, {}))) as user:
        await user.open("/")
        user.find("Run").click()
        await until(lambda: marked(user, "run-form"))
        card = the(user, "run-form")
        [dialog] = [one for one in card.ancestors() if isinstance(one, ui.dialog)]
        assert not dialog.props.get("persistent")
        UserInteraction(user, {card}, None).trigger("input.once")
        assert dialog.props.get("persistent")
