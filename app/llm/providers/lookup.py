"""What a model's connection is made of: the environment first, then what was saved."""

from typing import Protocol

from app.llm.providers.providers import SECRET_FIELDS, Keys, environment


class SavedKeys(Protocol):
    def get(self, name: str) -> str:
        """The key of that name, such as `openai:key`."""
        ...


class SavedSettings(Protocol):
    def field(self, name: str, field: str) -> str:
        """What else was set for the provider of that name."""
        ...


class Saved(Protocol):
    """Where both are kept."""

    @property
    def provider_keys(self) -> SavedKeys: ...
    @property
    def providers(self) -> SavedSettings: ...


class Lookup:
    """A `Keys`: `OPENAI_API_KEY` is a variable, `openai:key` and `openai:address` are what was saved."""

    def __init__(self, saved: Saved, *, variables: Keys = environment) -> None:
        self._saved = saved
        self._variables = variables

    def __call__(self, variable: str) -> str:
        provider, saved, field = variable.partition(":")
        if not saved:
            return self._variables(variable)
        if field in SECRET_FIELDS:
            return self._saved.provider_keys.get(variable)
        return self._saved.providers.field(provider, field)
