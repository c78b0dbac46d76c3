"""The settings of an agent that programs turn most often."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from app.domain.agents import Behaviour, Limits, Parameters, PromptBehaviour

Several = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Config(BaseModel):
    """What a run may use up, and how the model is asked. What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    max_steps: Annotated[int, Field(ge=1, le=1000)] | None = Field(None, description="Model calls of one run.")
    max_tokens: Several | None = Field(None, description="Tokens of one answer.")
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(None, description="null leaves it to the provider.")
    timeout_ms: Several | None = Field(None, description="Milliseconds of a whole run, waiting for people not counted.")
    retry_on_error: bool | None = Field(
        None, description="Whether tools that may be are called again when they break down."
    )
    max_retries: Annotated[int, Field(ge=0, le=100)] | None = Field(
        None, description="Further attempts of a call that failed."
    )

    @classmethod
    def of(cls, behaviour: Behaviour) -> Self:
        """Of a workflow, whose nodes ask their own models, no `max_tokens` and no `temperature`."""
        limits = behaviour.limits
        parameters = behaviour.parameters if isinstance(behaviour, PromptBehaviour) else None
        return cls(
            max_steps=limits.max_steps,
            max_tokens=parameters.max_tokens if parameters else None,
            temperature=parameters.temperature if parameters else None,
            timeout_ms=round(limits.total_time * 1000),
            retry_on_error=limits.retry_on_error,
            max_retries=limits.retries,
        )

    def parameters(self, before: Parameters) -> Parameters:
        changes = {name: getattr(self, name) for name in self.model_fields_set & {"max_tokens", "temperature"}}
        if changes.get("max_tokens", 0) is None:
            del changes["max_tokens"]
        return before.model_copy(update=changes)

    def limits(self, before: Limits) -> Limits:
        wanted = {
            "max_steps": self.max_steps,
            "total_time": None if self.timeout_ms is None else self.timeout_ms / 1000,
            "retry_on_error": self.retry_on_error,
            "retries": self.max_retries,
        }
        return before.model_copy(update={name: value for name, value in wanted.items() if value is not None})
