"""What is set for each provider, taken together: settings, keys, and where either comes from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.domain.errors import ModelFailure, StorageError, WorkbenchError
from app.domain.providers import ProviderSettings, checked_address, custom_name
from app.domain.secrets.pasted import CleanedKey, cleaned_key, last_four
from app.domain.secrets.shapes import check_owner
from app.domain.values import now
from app.llm.providers.last_seen import LastSeen, Seen
from app.llm.providers.offered import list_question, offered_models
from app.llm.providers.providers import PROVIDERS, Keys, Provider, base_of, has_key, provider_named, saved_name

SettingField = Literal["address", "organisation", "region", "api_version"]
_SETTINGS: tuple[SettingField, ...] = ("address", "organisation", "region", "api_version")
_KEYS: tuple[str, ...] = ("key",)
_AWS_KEYS: tuple[str, ...] = ("key", "access_key", "secret_key", "session_token")
_AWS_VARIABLES = {
    "key": ("AWS_BEARER_TOKEN_BEDROCK",),
    "access_key": ("AWS_ACCESS_KEY_ID",),
    "secret_key": ("AWS_SECRET_ACCESS_KEY",),
    "session_token": ("AWS_SESSION_TOKEN",),
}
_MOST_WRITTEN = 500


class SavedSettings(Protocol):
    """Where settings are kept."""

    def all(self) -> list[ProviderSettings]: ...
    def get(self, name: str) -> ProviderSettings: ...
    async def create(self, settings: ProviderSettings) -> ProviderSettings: ...
    async def change(self, name: str, change: Callable[[ProviderSettings], ProviderSettings]) -> ProviderSettings: ...
    async def delete(self, name: str) -> None: ...


class Described(Protocol):
    @property
    def where(self) -> str: ...
    @property
    def ends(self) -> str: ...
    @property
    def trouble(self) -> str: ...


class SavedKeys(Protocol):
    """Where keys are kept."""

    async def ready(self) -> None: ...
    def describe(self, name: str) -> Described | None: ...
    async def save(self, name: str, pasted: str) -> CleanedKey: ...
    async def forget(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class KeyState:
    """What a page may know of one of a provider's keys."""

    field: str
    ends: str = ""
    variable: str = ""
    """The environment variable it comes from; it goes before what was saved."""
    where: str = ""
    """Where it was saved; empty where it was not."""
    trouble: str = ""


def any_key(keys: Sequence[KeyState]) -> bool:
    """Whether one of them can be used."""
    return any(key.variable or (key.where and not key.trouble) for key in keys)


@dataclass(frozen=True, slots=True)
class ProviderState:
    name: str
    provider: Provider
    settings: ProviderSettings
    keys: tuple[KeyState, ...]
    address: str
    """Where it is asked; empty where it has none as yet."""
    address_variable: str
    """The environment variable that the address comes from."""
    fields: tuple[SettingField, ...]
    """What can be set beside its keys."""
    is_custom: bool
    lists_models: bool
    """Whether it can be asked for its models; those of others are written down."""

    uses_profile: bool
    """Whether this computer's own profile at the provider is used, for want of a key."""
    seen: Seen | None = None
    """What was last seen of it, with the key and the address it has now."""

    @property
    def is_set(self) -> bool:
        """Whether somebody set it up, here or in the environment."""
        return bool(self.settings.address or self.address_variable or self.has_key or self.uses_profile)

    @property
    def has_key(self) -> bool:
        return any_key(self.keys)


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """What a person wrote into a provider's form; an empty key leaves the one that is there."""

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict)
    models: str = ""
    """Names, one a line or behind commas, for providers that keep no list."""


class ProviderDesk:
    def __init__(self, settings: SavedSettings, keys: SavedKeys, lookup: Keys, seen: LastSeen) -> None:
        self._settings = settings
        self._keys = keys
        self._lookup = lookup
        self._seen = seen
        self.on_key_gone: Callable[[str], Awaitable[None]] | None = None
        """Called before a key that was saved for that provider is replaced or deleted: it opens nothing afterwards."""

    async def all(self) -> list[ProviderState]:
        """Every provider there is: those of one's own first, then the known ones in their order."""
        await self._keys.ready()
        own = [one.name for one in self._settings.all() if one.name not in PROVIDERS and one.address]
        return [self.state(name) for name in (*own, *PROVIDERS)]

    def state(self, name: str) -> ProviderState:
        """Raises `WorkbenchError` where there is no such provider."""
        try:
            provider = provider_named(name, self._lookup)
        except ModelFailure as failure:
            raise WorkbenchError(failure.text) from None
        is_custom = name not in PROVIDERS
        keys = tuple(self._key_state(name, field, provider) for field in (_AWS_KEYS if name == "bedrock" else _KEYS))
        return ProviderState(
            name=name,
            provider=provider,
            settings=self._settings.get(name),
            keys=keys,
            address=base_of(name, provider, self._lookup) or provider.home,
            address_variable=self._first_set(provider.bases),
            fields=_fields(name),
            is_custom=is_custom,
            lists_models=list_question(name, self._lookup) is not None,
            uses_profile=name == "bedrock" and has_key(name, provider, self._lookup) and not any_key(keys),
            seen=self._seen.of(name),
        )

    async def save(self, name: str, entry: ProviderEntry) -> tuple[str, ...]:
        """Store what was written. Returns what was taken away from pasted keys, in words.

        Raises `WorkbenchError` in words where an address or a key is none; then nothing of it is stored.
        """
        state = self.state(name)
        written: dict[str, str] = {key: value.strip() for key, value in entry.settings.items() if key in _SETTINGS}
        if "address" in written:
            written["address"] = checked_address(written["address"])
        if not written.get("address", "x") and state.is_custom:
            raise WorkbenchError("A server of your own needs an address.")
        pasted = {key_field: key for key_field, key in entry.keys.items() if key and key_field in _AWS_KEYS}
        cleaned = [cleaned_key(text) for text in pasted.values()]
        if state.provider.needs_key and not (written.get("address") or state.address_variable):
            for key in cleaned:  # who answers at an address of one's own may have keys of any shape
                check_owner(key.value, name, state.provider.title)
        if pasted:
            await self._key_goes(name)
        for key_field, text in pasted.items():
            await self._keys.save(saved_name(name, key_field), text)
        await self._settings.change(name, lambda before: _changed(before, written, entry.models))
        return tuple(words for key in cleaned for words in key.removed)

    async def let_keep(self, name: str, *, allowed: bool) -> None:
        """Let it keep files that are uploaded to it, or no more. Raises `StorageError`."""
        uploads = "allowed" if allowed else ""
        await self._settings.change(name, lambda before: before.model_copy(update={"uploads": uploads}))

    def saved_keys(self, name: str) -> dict[str, str]:
        """What was saved for it, by field, so that it can be brought back; for no page to show."""
        saved = {key_field: self._lookup(saved_name(name, key_field)) for key_field in _AWS_KEYS}
        return {key_field: key for key_field, key in saved.items() if key}

    async def bring_back(self, name: str, keys: Mapping[str, str]) -> None:
        """Keep those that `saved_keys` told in place of what was saved since. Raises `StorageError`."""
        for key_field, key in keys.items():
            await self._keys.save(saved_name(name, key_field), key)

    async def list_models(self, name: str) -> ProviderSettings:
        """Ask it for its models, and keep them. Raises `WorkbenchError` in words where it does not tell."""
        await self._keys.ready()
        note = self._seen.watch(name, "asking for its models")
        try:
            models = await offered_models(name, self._lookup)
        except ModelFailure as failure:
            note(failure.failure)
            raise WorkbenchError(failure.text) from None
        note(None)
        return await self._settings.change(
            name, lambda before: before.model_copy(update={"models": models, "listed_at": now()})
        )

    async def add(self, title: str, address: str, key: str = "") -> str:
        """Add a server of one's own; returns its name. Raises `WorkbenchError` in words."""
        title = " ".join(title.split())[:60]
        checked = checked_address(address)
        name = custom_name(title, {"demo", *PROVIDERS, *(one.name for one in self._settings.all())})
        if not checked:
            raise WorkbenchError("Write the server's address: https://… or http://…")
        try:
            if key:
                await self._keys.save(saved_name(name, "key"), key)
            await self._settings.create(ProviderSettings(name=name, title=title, address=checked))
        except StorageError:  # else the key would be one of whoever is called so next
            await self._keys.forget(saved_name(name, "key"))
            raise
        return name

    async def forget_key(self, name: str) -> None:
        """Delete every key that was saved for it, wherever they are kept. Raises `StorageError`."""
        await self._key_goes(name)
        for key_field in _AWS_KEYS:
            await self._keys.forget(saved_name(name, key_field))

    async def remove(self, name: str) -> None:
        """Forget a server of one's own, and its key."""
        await self.forget_key(name)
        await self._settings.delete(name)

    async def _key_goes(self, name: str) -> None:
        if self.on_key_gone is not None:
            await self.on_key_gone(name)

    def _key_state(self, name: str, key_field: str, provider: Provider) -> KeyState:
        variables = _AWS_VARIABLES[key_field] if name == "bedrock" else provider.keys
        if variable := self._first_set(variables):
            saved = self._keys.describe(saved_name(name, key_field))
            return KeyState(key_field, last_four(self._lookup(variable)), variable, saved.where if saved else "")
        saved = self._keys.describe(saved_name(name, key_field))
        if saved is None:
            return KeyState(key_field)
        return KeyState(key_field, saved.ends, "", saved.where, saved.trouble)

    def _first_set(self, variables: Sequence[str]) -> str:
        return next((variable for variable in variables if self._lookup(variable)), "")


def _fields(name: str) -> tuple[SettingField, ...]:
    if name == "bedrock":
        return ("region",)
    extra: dict[str, tuple[SettingField, ...]] = {"openai": ("organisation",), "azure": ("api_version",)}
    return ("address", *extra.get(name, ()))


def _changed(before: ProviderSettings, written: Mapping[str, str], models: str) -> ProviderSettings:
    """What was listed at another address is not offered at the new one."""
    after = before.model_copy(update=dict(written))
    if after.address != before.address:
        after = after.model_copy(update={"models": (), "listed_at": None})
    if models or (before.models and before.listed_at is None):
        names = tuple(dict.fromkeys(name for line in models.split("\n") for name in line.replace(",", " ").split()))
        after = after.model_copy(update={"models": names[:_MOST_WRITTEN], "listed_at": None})
    return after
