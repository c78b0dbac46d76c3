"""Which of an agent's variants the next run of a session uses."""

from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.domain.agents import Agent


class VariantSelect(ui.select):
    """`on_choose` gets the number that somebody chose."""

    def __init__(self, agent: Agent, number: int, on_choose: Callable[[int], Awaitable[object]]) -> None:
        # Quasar names the field by its label alone; the looks hide it, since the value says enough to the eye.
        super().__init__(variant_options(agent, number), value=number, label="Variant for the next answers")
        self._on_choose = on_choose
        self._shown = (agent, number)
        self.props("dense borderless options-dense data-testid=variant-select")
        self.props('stack-label title="Variant for the next answers"')
        self.classes("variant-select")
        self.on_value_change(self._chosen)

    def show(self, agent: Agent, number: int) -> None:
        """Show the agent's variants as they are now, that one chosen."""
        if self._shown == (agent, number):
            return
        self._shown = (agent, number)
        self.set_options(variant_options(agent, number), value=number)

    async def _chosen(self, event: events.ValueChangeEventArguments[int | None]) -> None:
        agent, number = self._shown
        if event.value is not None and event.value != number:
            self._shown = (agent, event.value)
            await self._on_choose(event.value)


def variant_options(agent: Agent, chosen: int) -> dict[int, str]:
    """What each variant is called, the newest first; archived ones only while they are in use."""
    return {
        one.number: variant_words(agent, one.number)
        for one in sorted(agent.variants, key=lambda one: -one.number)
        if agent.status_of(one.number) != "archived" or one.number == chosen
    }


def variant_words(agent: Agent, number: int) -> str:
    """`v3 · active`."""
    return f"v{number} · {standing(agent, number).lower()}"


def standing(agent: Agent, number: int) -> str:
    """How the variant stands beside the active one: Active, Newer, Previous or Archived."""
    status = agent.status_of(number)
    if status == "candidate":
        return "Newer" if number > agent.active else "Previous"
    return status.capitalize()
