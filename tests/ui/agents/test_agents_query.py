"""Which agents a list shows."""

from app.domain.agents import PromptBehaviour, new_agent
from app.ui.agents.agents_page import PAGE_SIZE, AgentsQuery
from app.ui.elements.pager import pages

AGENTS = [
    new_agent("Writer", PromptBehaviour(model="openai/gpt-4o"), taken_slugs=(), description="Writes poems"),
    new_agent("Math tutor", PromptBehaviour(), taken_slugs=(), description="Explains sums"),
]


def found(text: str) -> list[str]:
    return [agent.name for agent in AgentsQuery(text=text).fitting(AGENTS)]


def test_every_word_has_to_occur_in_name_slug_description_or_model():
    assert found("") == ["Writer", "Math tutor"]
    assert found("GPT poems") == ["Writer"]
    assert found("math-tutor") == ["Math tutor"]
    assert found("poems sums") == []


def test_an_address_says_what_is_shown_and_is_read_back():
    query = AgentsQuery(text="a & b", trash=True, page=3)
    assert query.address == "/agents?q=a+%26+b&trash=1&page=3"
    assert AgentsQuery.of({"q": "a & b", "trash": "1", "page": "3"}) == query
    assert AgentsQuery().address == "/agents"


def test_nonsense_in_an_address_is_left_out():
    assert AgentsQuery.of({"page": "-1", "trash": "yes"}) == AgentsQuery()
    assert AgentsQuery.of({"page": "²"}) == AgentsQuery()


def test_agents_come_in_pages():
    many = AGENTS * PAGE_SIZE
    assert pages(0, PAGE_SIZE) == 1
    assert pages(len(many), PAGE_SIZE) == 2
    assert AgentsQuery(page=2).shown(many) == many[PAGE_SIZE:]
