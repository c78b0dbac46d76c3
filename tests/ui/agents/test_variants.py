"""The list of an agent's variants."""

from nicegui import ui
from nicegui.testing.user_simulation import user_simulation

from app.domain.agents import Agent, PromptBehaviour, new_agent, with_variant
from app.ui.agents.variants import PAGE_SIZE, Variants
from tests.ui.runs.test_runs_pages import marked, the, words


def many(count: int) -> Agent:
    agent = new_agent("Many", PromptBehaviour(), taken_slugs=())
    for number in range(2, count + 1):
        agent = with_variant(agent, PromptBehaviour(system_prompt=f"Variant {number}."), origin=1)
    return agent


async def test_the_newest_of_many_variants_are_listed_with_the_active_one_and_the_others_when_they_are_asked_for() -> (
    None
):
    async def act(action: str, number: int) -> None:
        raise AssertionError(f"Nobody asked to {action} variant {number}.")

    def page() -> None:
        Variants(act).show(many(PAGE_SIZE + 7), origin=1)

    async with user_simulation(page) as user:
        await user.open("/")
        assert words(user).count('data-testid="variant-row"') == PAGE_SIZE + 1
        assert f'data-variant="{PAGE_SIZE + 7}"' in words(user) and 'data-variant="7"' not in words(user)
        assert 'data-variant="1"' in words(user)
        older = the(user, "variants-older")
        assert isinstance(older, ui.html) and older.content == "Show more (6 variants left)"
        user.find(marker=None, content=older.content).click()
        assert words(user).count('data-testid="variant-row"') == PAGE_SIZE + 7
        assert not marked(user, "variants-older")
