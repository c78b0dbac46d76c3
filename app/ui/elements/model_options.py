"""The models a person may choose from, in the order they are offered, and what is said of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.models import ModelCard, Price
from app.domain.trace import RunFilter
from app.llm.providers.choices import ProviderChoice
from app.workbench import Workbench

FIRST_OF_EACH, FIRST_OF_LOCKED = 8, 3
"""Models of each provider that are shown before anything is typed."""
RECENT, RECENT_RUNS = 5, 60


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the list; `model` is `None` for going back to what the variant says."""

    model: str | None
    title: str
    group: str
    card: ModelCard | None = None
    needs: str = ""
    needs_key: bool = False
    more: int = 0
    """How many of its group are not shown before something is typed; with the last that is."""


def options_of(choices: Sequence[ProviderChoice], query: str, recent: Sequence[str] = ()) -> list[Option]:
    """The models with all the words of `query` in their names or abilities, each provider's best fitting ones first.

    Without a query those of `recent` that can be asked, then the newest ones of each provider.
    """
    words = query.casefold().split()
    if not words:
        return [*_recent(choices, recent), *(option for choice in choices for option in _newest(choice))]

    def fits(card: ModelCard, provider: str) -> bool:
        return all(word in f"{card.name} {provider} {abilities(card)}".casefold() for word in words)

    def rank(card: ModelCard) -> tuple[bool, bool]:
        title = card.title.casefold()
        return title.startswith("ft:"), not title.startswith(query.casefold().strip())

    return [
        _option(choice, card)
        for choice in choices
        for card in sorted((card for card in choice.models if fits(card, choice.title)), key=rank)
    ]


def _option(choice: ProviderChoice, card: ModelCard) -> Option:
    return Option(card.name, card.title, choice.title, card, choice.needs, choice.needs_key)


def _recent(choices: Sequence[ProviderChoice], recent: Sequence[str]) -> list[Option]:
    cards = {card.name: card for choice in choices if not choice.needs for card in choice.models}
    used = [cards[name] for name in recent if name in cards]
    return [Option(card.name, card.name, "Recently used", card) for card in used]


def _newest(choice: ProviderChoice) -> list[Option]:
    number = FIRST_OF_LOCKED if choice.needs else FIRST_OF_EACH
    options = [_option(choice, card) for card in choice.models[:number]]
    if options and (more := len(choice.models) - number) > 0:
        options[-1] = replace(options[-1], more=more)
    return options


def recent_models(workbench: Workbench) -> list[str]:
    """The models of the newest runs, the last one first."""
    rows = workbench.rows.find(RunFilter(), limit=RECENT_RUNS).rows
    return list(dict.fromkeys(workbench.catalog.resolve(row.model) for row in rows if row.model))[:RECENT]


def price_words(price: Price | None) -> str:
    """`$3 / $15 per million tokens`: of the prompt and of the answer."""
    if price is None:
        return "unpriced"
    if price.input == 0 and price.output == 0:
        return "free"
    return f"${price.input * 1e6:.4g} in, ${price.output * 1e6:.4g} out per 1M tokens"


def abilities(card: ModelCard) -> str:
    """`sees images · thinks · calls tools`; of a model that no list knows only what its name says."""
    able = {
        "sees images": card.sees_images,
        "thinks": card.reasons,
        "calls tools": card.calls_tools and card.context_window is not None,
    }
    return " · ".join(words for words, is_able in able.items() if is_able)


def card_words(card: ModelCard | None) -> str:
    """What it can do, its context size and its price on one line."""
    if card is None:
        return "not in the catalog: context size and price unknown"
    window = f"{_rounded(card.context_window)} tokens context" if card.context_window else "context size unknown"
    return " · ".join(filter(None, (abilities(card), window, price_words(card.price))))


def _rounded(window: int) -> str:
    return f"{window / 1000:,.0f}k" if window >= 10_000 else f"{window:,}"
