"""The models there are, by name and by alias, with what they cost and how much they read.

Prices and context sizes are read from the list that LiteLLM brings along, as a file: finding out what a model costs
does not import LiteLLM. The list has thousands of entries; it is read once, when it is first needed.
"""

import asyncio
import difflib
import importlib.util
import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from app.domain.models import ModelCard, Price
from app.llm.providers.providers import PROVIDERS
from app.paths import assets

FREE = Price(input=0, output=0, cached=0, cache_write=0)
DEMO = ModelCard(
    name="demo/agent",
    provider="demo",
    title="Demo model (built in, follows scripts)",
    context_window=128_000,
    price=FREE,
    reasons=True,
)

_FREE_PROVIDERS = frozenset({"ollama", "lmstudio", "llamacpp"})
_NAMED_BY_THEIR_USERS = frozenset({"azure", "compatible"})
"""Providers whose models, there called deployments, have the names that their users gave them."""
PRICE_LIST = "model_prices_and_context_window_backup.json"
_CHAT_MODES = frozenset({"chat", "responses", "completion"})
_PRICED_BY_SESSION = "code_interpreter_cost_per_session"
"""In an entry that is no model: what a place to run code in costs."""
_OTHER_NAMES = {"bedrock_converse": "bedrock", "ollama_chat": "ollama", "azure_text": "azure"}
"""The list's names of providers that have another one here."""
_VALUE = re.compile(r"\s*:\s*")
"""What stands before a value in an object of JSON."""
_SEEING = re.compile(r"vision|llava|moondream|minicpm-v|pixtral|gemma-?3|\bvl\b|vl[:-]|-vl|internvl|smolvlm")
"""In the name of a local model: that it sees images."""

Record = dict[str, JsonValue]


class Catalog:
    """`price_list` is LiteLLM's list or one of its shape; by default the one that is installed."""

    def __init__(self, price_list: Path | None = None) -> None:
        self._price_list = price_list
        self._reading = threading.Lock()

    async def ready(self) -> None:
        """Return when the list is read; without this the first question reads it, and that takes a while."""
        if "_cards" not in vars(self):  # a run asks at each step, and a thread is not for nothing
            await asyncio.to_thread(self._read)

    def resolve(self, name: str) -> str:
        """`provider/model` of an alias, with its provider or without, or of a model that is known without one.

        Any other name is given back as it is.
        """
        name = name.strip()
        if name in self.aliases or "/" in name:
            return self.aliases.get(name, name)
        cards = self._read()
        return next((full_name for provider in PROVIDERS if (full_name := f"{provider}/{name}") in cards), name)

    def is_doubtful(self, name: str) -> bool:
        """Whether nobody heard of the model, of a provider whose models are listed, or by an alias of others."""
        full_name = self.resolve(name)
        provider, _, model = full_name.partition("/")
        if provider in _NAMED_BY_THEIR_USERS or self.card(full_name) is not None:
            return False
        return not model or model in self.aliases or bool(self.cards(provider))

    def near(self, name: str) -> list[str]:
        """The names and aliases most like it, of its provider where it names one; some hundredths of a second."""
        provider, slash, _ = name.strip().partition("/")
        aliases = [alias for alias in self.aliases if alias.startswith(f"{provider}/") or not (slash or "/" in alias)]
        cards = self.cards(provider) if slash else self._read().values()
        titles = [card.name if slash else card.title for card in cards]
        return difflib.get_close_matches(name.strip(), dict.fromkeys((*aliases, *titles)), n=3)

    def card(self, name: str) -> ModelCard | None:
        """What is known of the model behind a name or alias; `None` when nothing is."""
        full_name = self.resolve(name)
        if full_name == DEMO.name:
            return DEMO
        provider, _, model = full_name.partition("/")
        known = self._read().get(full_name)
        if known is not None or provider not in _FREE_PROVIDERS or not model:
            return known
        return ModelCard(name=full_name, provider=provider, title=model, price=FREE, sees_images=_says_it_sees(model))

    def cards(self, provider: str) -> list[ModelCard]:
        """The provider's models, by name; first those that have an alias."""
        if provider == DEMO.provider:
            return [DEMO]
        known = frozenset(self.aliases.values())
        cards = (card for card in self._read().values() if card.provider == provider)
        return sorted(cards, key=lambda card: (card.name not in known, card.name))

    def inexpensive(self, provider: str, offered: Collection[str] = ()) -> str:
        """The cheapest of the provider's models that call tools, out of those it offers; empty where none is known."""
        known = [card for card in self.cards(provider) if card.calls_tools and card.price and "ft:" not in card.title]
        fitting = [card for card in known if card.title in offered] if offered else known
        cheapest = min(fitting, key=lambda card: card.price.output if card.price else 0, default=None)
        return cheapest.title if cheapest else next(iter(offered), "")

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Each alias, alone and behind each of its providers, and the `provider/model` it stands for."""
        table = TypeAdapter(dict[str, dict[str, str]]).validate_json(
            (assets() / "models" / "aliases.json").read_bytes()
        )
        models = {alias: [(one, f"{one}/{model}") for one, model in found.items()] for alias, found in table.items()}
        alone = {alias: found[0][1] for alias, found in models.items()}
        return alone | {f"{one}/{alias}": name for alias, found in models.items() for one, name in found}

    def _read(self) -> Mapping[str, ModelCard]:
        with self._reading:
            return self._cards

    @cached_property
    def _cards(self) -> Mapping[str, ModelCard]:
        path = self._price_list or inside_litellm(PRICE_LIST)
        if path is None:
            return {}
        cards = (_card(name, record) for name, record in _records(path.read_text("utf-8")))
        return {card.name: card for card in cards if card is not None}


def _records(text: str) -> Iterator[tuple[str, Record]]:
    """The objects in an object of JSON, one after the other: all at once they take 40 MB. Raises `ValueError`."""
    decode, at = json.JSONDecoder().raw_decode, 0
    while (at := text.find('"', at)) >= 0:
        name, at = decode(text, at)
        before = _VALUE.match(text, at)
        record, at = decode(text, before.end() if before else at)
        if isinstance(record, dict):
            yield name, record


def inside_litellm(name: str) -> Path | None:
    """A file that LiteLLM brings along, found without importing it; `None` where it is not there."""
    spec = importlib.util.find_spec("litellm")
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((path for folder in folders if (path := Path(folder) / name).is_file()), None)


def _card(listed: str, record: Record) -> ModelCard | None:
    listed_provider = str(record.get("litellm_provider") or "")
    provider = _OTHER_NAMES.get(listed_provider, listed_provider)
    if provider not in PROVIDERS or record.get("mode") not in _CHAT_MODES or _PRICED_BY_SESSION in record:
        return None
    model = listed.removeprefix(f"{listed_provider}/").removeprefix(f"{provider}/")
    return ModelCard.model_construct(
        name=f"{provider}/{model}",
        provider=provider,
        title=model,
        context_window=_tokens(record, "max_input_tokens") or _tokens(record, "max_tokens"),
        price=_price(record),
        sees_images=record.get("supports_vision") is True,
        reads_pdf=record.get("supports_pdf_input") is True,
        hears=record.get("supports_audio_input") is True,
        sees_videos=record.get("supports_video_input") is True,
        calls_tools=record.get("supports_function_calling") is True,
        reasons=record.get("supports_reasoning") is True,
    )


def _says_it_sees(model: str) -> bool:
    """Of a local model nothing is known but its name."""
    return _SEEING.search(model.lower()) is not None


def _price(record: Record) -> Price | None:
    price_in, price_out = _dollars(record, "input_cost_per_token"), _dollars(record, "output_cost_per_token")
    if price_in is None or price_out is None:
        return None
    return Price.model_construct(
        input=price_in,
        output=price_out,
        cached=_dollars(record, "cache_read_input_token_cost"),
        cache_write=_dollars(record, "cache_creation_input_token_cost"),
    )


def _dollars(record: Record, field: str) -> float | None:
    value = record.get(field)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tokens(record: Record, field: str) -> int | None:
    value = record.get(field)
    return int(value) if isinstance(value, int | float) and value > 0 else None
