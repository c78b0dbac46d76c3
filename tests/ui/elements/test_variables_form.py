"""The boxes of variables, while their values change elsewhere."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from nicegui import Client, ui
from nicegui.page import page
from nicegui.testing import User

from app.domain.agents import PromptBehaviour, Variable, new_agent, with_variant
from app.domain.sessions import switched
from app.ui.elements.variables_form import Field, VariablesForm
from tests.ui.runs.test_runs_pages import marked, visitor
from tests.waiting import until

TONE = Variable(name="tone")


class Form:
    """One with a single variable, and what it told of it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self._form = VariablesForm(lambda name, value: self.told.append((name, value)))

    def show(self, value: str) -> None:
        self._form.show([Field(TONE, value)])

    @property
    def box(self) -> ui.textarea:
        (box,) = (one for one in self._form.descendants() if isinstance(one, ui.textarea))
        return box


@pytest.fixture
def form() -> Iterator[Form]:
    with Client(page("")) as client:
        yield Form()
    client.delete()


def test_a_value_that_changed_elsewhere_is_shown_and_is_nobodys_choice(form: Form):
    for value in ("formal", "casual", ""):
        form.show(value)
        assert form.box.value == value
    assert form.told == []


def test_what_is_typed_stays_until_it_is_kept(form: Form):
    form.show("formal")
    box = form.box
    box.value = "gra"
    form.show("formal")
    form.show("casual")
    assert form.box is box
    assert box.value == "gra"
    box.value = "grave"
    form.show("grave")
    assert form.box is box
    form.show("casual")
    assert form.box.value == "casual"


def toned(default: str) -> PromptBehaviour:
    tone = TONE.model_copy(update={"default": default})
    return PromptBehaviour(system_prompt="Answer in a {{tone}} tone.", variables=(tone,))


async def shows(user: User, tone: str) -> None:
    await until(lambda: [box.value for box in marked(user, "variable-input") if isinstance(box, ui.textarea)] == [tone])


async def test_another_variant_in_a_session_shows_the_values_that_are_sent(tmp_path: Path):
    agent = new_agent("Toned", toned(""), taken_slugs=())
    for number, default in enumerate(("formal", "casual"), 1):
        agent = with_variant(agent, toned(default), origin=number)
    async with visitor(tmp_path) as (user, workbench):
        await workbench.agents.create(agent)
        session = await workbench.chat.new_session(agent.id)
        await user.open(f"/playground/{session.id}")
        await shows(user, "")
        for number, tone in ((2, "formal"), (3, "casual"), (1, "")):
            await workbench.sessions.change(session.id, partial(switched, agent=agent, number=number))
            await shows(user, tone)
        assert workbench.sessions.get(session.id).variables == {}
