"""Where a model's name leads: to the built-in demo, or to one that LiteLLM reaches."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from app.domain.errors import ModelFailure, NotFound
from app.domain.messages import has_attachments
from app.domain.models import Price
from app.domain.streaming import Delta, Model, ModelRequest, Reply
from app.late import late, late_part
from app.llm.demo import HUMAN_PACE, is_demo
from app.llm.providers.catalog import DEMO, Catalog
from app.llm.providers.last_seen import LastSeen, Looker, Note
from app.llm.providers.providers import Keys, connection, environment, is_nearby, provider_named

with late():
    from app.llm import tokens
    from app.llm.attachments import attachments, provider_files
    from app.llm.demo import model as demo
    from app.llm.litellm import litellm_model


class ModelDirectory:
    """Opens models by name. `keys` tells the providers' variables; `pace` is the demo's, in seconds for a token.

    `ready` returns when `keys` knows all that was saved; without `files` nothing is kept with a provider.
    """

    def __init__(
        self,
        catalog: Catalog,
        read_artifact: Callable[[str], Awaitable[bytes]],
        *,
        keys: Keys = environment,
        ready: Callable[[], Awaitable[None]] | None = None,
        seen: LastSeen | None = None,
        files: "provider_files.ProviderFiles | None" = None,
        pace: float = HUMAN_PACE,
    ) -> None:
        self._catalog = catalog
        self._read_artifact = read_artifact
        self._files = files
        self._keys = keys
        self._ready = ready
        self._seen = seen or LastSeen(keys)
        self._pace = pace

    @late_part
    def attachments(self) -> "attachments.Attachments":
        """How files and pictures go along with a request."""
        return attachments.Attachments(self._catalog, self._read_artifact, self._files)

    async def open(self, name: str, *, by: Looker = "a run") -> Model:
        """The model behind `provider/model` or an alias, ready to be asked; `by` whom it is, is said of its provider.

        Raises `ModelFailure`: `model_unavailable` where there is none of that name, `invalid_key` where its provider
        needs a key and none is set. For the first real model this takes seconds, and the loop goes on meanwhile.
        """
        full_name = self._catalog.resolve(name) if is_demo(name) else await self._resolved(name)
        if full_name == DEMO.name:
            return demo.DemoModel(self._pace)
        if self._ready is not None:
            await self._ready()
        _check(full_name, self._keys)
        connection(full_name, self._keys)
        await self._catalog.ready()
        await litellm_model.ensure_litellm()
        model = litellm_model.LiteLLMModel(full_name, lambda: connection(full_name, self._keys), self.attachments)
        return _Watched(model, partial(self._seen.watch, full_name.partition("/")[0], by))

    async def prepare(self) -> None:
        """Load beforehand, for seconds off the loop, what the first real model needs; asks nobody."""
        await self._catalog.ready()
        await litellm_model.ensure_litellm()

    async def check(self, name: str) -> None:
        """Raises `NotFound`, in words, where no model can be behind that name; asks nobody and needs no key."""
        full_name = self._catalog.resolve(name) if "/" in name else await self._resolved(name)
        try:
            _check(full_name, self._keys)
        except ModelFailure as failure:
            raise NotFound(failure.text) from None

    async def doubts(self, name: str) -> tuple[str, ...]:
        """A sentence where nobody heard of the model of that name, with the names most like it; asks nobody."""
        await self._catalog.ready()
        if not self._catalog.is_doubtful(name):
            return ()
        near = await asyncio.to_thread(self._catalog.near, name)
        guess = f"Did you mean {' or '.join(near)}?" if near else "See whether it is written as its provider does."
        return (f"No model {name!r} is known here, so a run may fail. {guess}",)

    def price(self, name: str) -> Price | None:
        """What its tokens cost; `None` when nobody said."""
        card = self._catalog.card(name)
        return card.price if card else None

    async def window(self, name: str) -> int | None:
        """Tokens of prompt that it takes; `None` when nobody said. Afterwards `price` reads nothing."""
        if not is_demo(name):
            await self._catalog.ready()
        card = self._catalog.card(name)
        return card.context_window if card else None

    def sends_bills(self, name: str) -> bool:
        """False for the demo, for a server on this machine or beside it, and for what cannot be called as yet."""
        full_name = self._catalog.resolve(name)
        if full_name == DEMO.name or is_nearby(full_name, self._keys):
            return False
        try:
            connection(full_name, self._keys)
        except ModelFailure:
            return False
        return True

    async def count_tokens(self, request: ModelRequest) -> int:
        """About how many tokens the request's prompt has."""
        if self._catalog.resolve(request.model) == DEMO.name:
            return await asyncio.to_thread(demo.prompt_tokens, request)
        files = self.attachments.weights(request) if any(map(has_attachments, request.messages)) else tokens.NOTHING
        return (await tokens.count_tokens(request, files)).tokens

    async def prepared(self, request: ModelRequest, *, uploading: bool = True) -> ModelRequest:
        """The request with how each of its attachments goes along, made ready for that; see `Attachments`."""
        if not any(map(has_attachments, request.messages)):
            return replace(request, sent={})
        await self._catalog.ready()
        if self._ready is not None:
            await self._ready()
        return await self.attachments.prepared(request, uploading=uploading)

    async def _resolved(self, name: str) -> str:
        await self._catalog.ready()
        return self._catalog.resolve(name)


class _Watched:
    """A model of whose provider it is noted, at each call, that it answered or how it failed."""

    def __init__(self, model: Model, watch: Callable[[], Note]) -> None:
        self._model = model
        self._watch = watch

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        note, answered = self._watch(), False
        try:
            async with aclosing(self._model.stream(request)) as answer:
                async for item in answer:
                    if not answered:
                        note(None)
                        answered = True
                    yield item
        except ModelFailure as failure:
            note(failure.failure)
            raise


def _check(full_name: str, keys: Keys) -> None:
    provider, _, model = full_name.partition("/")
    if full_name == DEMO.name:
        return
    if provider == DEMO.provider:
        raise ModelFailure(
            "model_unavailable", f"There is no demo model {full_name!r}; the demo is called {DEMO.name!r}."
        )
    if not model:
        raise ModelFailure(
            "model_unavailable",
            f"There is no model {full_name!r}. A model is named provider/model, such as openai/gpt-4o, or by an alias "
            "such as claude-sonnet.",
        )
    provider_named(provider, keys)
