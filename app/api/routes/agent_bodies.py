"""Agents as the API takes and shows them: flat, with the settings that programs turn most often."""

from datetime import datetime
from typing import Annotated, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.door.envelopes import Reply
from app.api.routes.agent_config import Config, Several
from app.domain.agents import (
    BY_NODES,
    LONGEST_DESCRIPTION,
    Agent,
    Behaviour,
    BehaviourKind,
    PromptBehaviour,
    ToolChoice,
    Variant,
    VariantStatus,
    WorkflowBehaviour,
    model_of,
    template_of,
    tools_of,
    values_of,
)
from app.domain.errors import WorkbenchError
from app.domain.evals.gates import LONGEST_REASON
from app.domain.messages import Disposition, MediaPattern
from app.domain.prompts import declared
from app.domain.tools import canonical_name
from app.domain.values import Text

LONGEST_PROMPT = 200_000
"""Characters."""
_CONFIG = {"max_steps": 10, "max_tokens": 4096, "temperature": 0.2, "timeout_ms": 600_000}
_RETRIES = {"retry_on_error": True, "max_retries": 2}
_BEHAVIOUR: dict[str, JsonValue] = {
    "provider": "demo",
    "model": "agent",
    "system_prompt": "You help {{customer}} with sums.",
    "tools": ["calculator", "data-transform"],
    "config": {**_CONFIG, **_RETRIES},
    "attachments": {"application/pdf": "inline"},
}
_AGENT: dict[str, JsonValue] = {"name": "Sums", "description": "Adds and multiplies.", **_BEHAVIOUR, "is_public": False}

Named = Annotated[Text, Field(max_length=1000)]
Prompt = Annotated[Text, Field(max_length=LONGEST_PROMPT)]
Described = Annotated[Text, Field(max_length=LONGEST_DESCRIPTION)]
Reason = Annotated[
    Text,
    Field(
        max_length=LONGEST_REASON, description="Why the variant may be active although the agent's gate holds it back."
    ),
]
Warnings = tuple[str, ...]
"""What was saved and may not be meant so, such as a model that nobody knows; told when it is saved."""


class BehaviourBody(BaseModel):
    """How an agent answers. What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_BEHAVIOUR]})

    provider: Annotated[Named, Field(pattern=r"^[\w.-]*$")] | None = Field(
        None, description="Such as anthropic, openai, ollama; empty when `model` is an alias, or names it too."
    )
    model: Annotated[Named, Field(min_length=1)] | None = Field(None, description="The provider's id, or an alias.")
    system_prompt: Prompt | None = Field(None, description="A template with `{{variables}}`.")
    tools: Annotated[tuple[Named, ...], Field(max_length=500)] | None = Field(
        None, description="Names of tools and of whole kits, written with - or _."
    )
    config: Config = Config()
    attachments: Annotated[dict[MediaPattern, Disposition], Field(max_length=100)] | None = Field(
        None,
        description="How attachments go that say `auto`, by media type, `image/*` or `*`: inline, reference, native or "
        "tool:<name>. The narrowest that fits counts.",
    )

    def behaviour(self, before: Behaviour) -> Behaviour:
        """What it was before, with what this names. Raises `WorkbenchError` for what a workflow does not have."""
        match before:
            case PromptBehaviour():
                return self._prompt(before)
            case WorkflowBehaviour(limits=limits):
                told = (self.provider, self.model, self.system_prompt, self.tools, self.attachments)
                if any(one is not None for one in (*told, self.config.max_tokens, self.config.temperature)):
                    raise WorkbenchError(BY_NODES)
                return before.model_copy(update={"limits": self.config.limits(limits)})
            case _:
                assert_never(before)

    def _prompt(self, before: PromptBehaviour) -> PromptBehaviour:
        """Tools keep the policy that they had."""
        changes: dict[str, object] = {
            "model": _joined(self, before.model),
            "parameters": self.config.parameters(before.parameters),
            "limits": self.config.limits(before.limits),
        }
        if self.system_prompt is not None:
            changes["system_prompt"] = self.system_prompt
            changes["variables"] = declared(self.system_prompt, before.variables)
        if self.attachments is not None:
            changes["attachments"] = self.attachments
        if self.tools is not None:
            changes["tools"] = _chosen(self.tools, before.tools)
        return before.model_copy(update=changes)


class AgentChange(BehaviourBody):
    """What is to be different. New behaviour is saved as a variant, which becomes the active one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"system_prompt": "Answer in French."}]})

    name: Named | None = None
    description: Described | None = None
    is_public: bool | None = Field(None, description="Whether it may be run on this machine without a key.")
    override: Reason = ""


class Promotion(BaseModel):
    """How a variant becomes the active one."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"override": "The case that fails is out of date."}]}
    )

    override: Reason = ""


class NewAgent(AgentChange):
    """A new agent."""

    model_config = ConfigDict(json_schema_extra={"examples": [_AGENT]})

    name: Named


class NewVariant(BehaviourBody):
    """A further variant of an agent: what another one has, with what is to be different."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"system_prompt": "Answer in one sentence.", "note": "shorter"}]}
    )

    note: Named = Field("", description="What is different, for people.")
    origin: Several | None = Field(None, description="The variant to begin from; without it the active one.")


class VariantReply(Reply):
    """A saved variant, which never changes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "number": 2,
                    "status": "active",
                    "note": "shorter",
                    "origin": 1,
                    "kind": "prompt",
                    **_BEHAVIOUR,
                    "variables": {"customer": "Ada"},
                    "created_at": "2026-03-01T09:30:00Z",
                    "warnings": [],
                }
            ]
        }
    )

    number: int
    status: VariantStatus
    note: str
    origin: int | None
    """The variant it was made from."""
    kind: BehaviourKind
    provider: str
    model: str
    """Empty for a workflow: its nodes have models of their own."""
    system_prompt: str
    tools: tuple[str, ...]
    config: Config
    attachments: dict[str, str]
    """How those go that say `auto`, by media type."""
    variables: dict[str, str]
    """Those of its prompt, with their defaults."""
    created_at: datetime
    warnings: Warnings = ()

    @classmethod
    def of(cls, agent: Agent, variant: Variant, warnings: Warnings = ()) -> Self:
        behaviour = variant.behaviour
        provider, model = split(model_of(behaviour) or "")
        return cls(
            number=variant.number,
            status=agent.status_of(variant.number),
            note=variant.note,
            origin=variant.origin,
            kind=behaviour.kind,
            provider=provider,
            model=model,
            system_prompt=template_of(behaviour),
            tools=tuple(choice.name for choice in tools_of(behaviour)),
            config=Config.of(behaviour),
            attachments=behaviour.attachments if isinstance(behaviour, PromptBehaviour) else {},
            variables=values_of(behaviour, {}),
            created_at=variant.created_at,
            warnings=warnings,
        )


class AgentReply(Reply):
    """An agent with the behaviour of its active variant."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "h2k4m6p8r0t2v4x6",
                    "slug": "sums",
                    "kind": "prompt",
                    **_AGENT,
                    "variables": {"customer": "Ada"},
                    "variant": 1,
                    "variants": 1,
                    "created_at": "2026-03-01T09:30:00Z",
                    "created_by": "api_key:nightly",
                    "updated_at": "2026-03-02T10:00:00Z",
                    "warnings": [],
                }
            ]
        }
    )

    id: str
    slug: str
    """Its name in addresses, which stays when it is renamed."""
    name: str
    description: str
    kind: BehaviourKind
    """Whether a model is asked with a prompt, or the nodes of a workflow are run."""
    provider: str
    """Empty for an alias."""
    model: str
    """Empty for a workflow: its nodes have models of their own."""
    system_prompt: str | None
    """For the owner only."""
    tools: tuple[str, ...]
    config: Config
    attachments: dict[str, str]
    """How those go that say `auto`, by media type."""
    is_public: bool
    variables: dict[str, str]
    """Those of its prompt, with their defaults."""
    variant: int
    """The number of the active one."""
    variants: int
    """How many there are."""
    created_at: datetime
    created_by: str | None
    """As `triggered_by` of a run, or `app` for a sample; null where that is not known, and for all but the owner."""
    updated_at: datetime
    warnings: Warnings = ()

    @classmethod
    def of(cls, agent: Agent, *, to_owner: bool, warnings: Warnings = ()) -> Self:
        """As the owner may see it, or anyone who may run it."""
        shown = VariantReply.of(agent, agent.active_variant)
        return cls(
            id=agent.id,
            slug=agent.slug,
            name=agent.name,
            description=agent.description,
            kind=shown.kind,
            provider=shown.provider,
            model=shown.model,
            system_prompt=shown.system_prompt if to_owner else None,
            tools=shown.tools,
            config=shown.config,
            attachments=shown.attachments,
            is_public=agent.is_public,
            variables=shown.variables,
            variant=agent.active,
            variants=len(agent.variants),
            created_at=agent.created_at,
            created_by=(agent.created_by or None) if to_owner else None,
            updated_at=agent.updated_at or agent.created_at,
            warnings=warnings,
        )


def split(name: str) -> tuple[str, str]:
    """Provider and model of `provider/model`; an alias has no provider. `_joined` makes the same name of them."""
    provider, slash, model = name.partition("/")
    if not slash:
        return "", name
    return provider, name if model.startswith(f"{provider}/") else model


def _joined(body: BehaviourBody, before: str) -> str:
    """The name that the body asks for; one of the two halves alone keeps the other as it was."""
    if body.provider is None and body.model is None:
        return before
    old_provider, old_model = split(before)
    model = (body.model or old_model).strip()
    if body.provider is None:
        return model if "/" in model or body.model else f"{old_provider}/{model}"
    return model if not body.provider or model.startswith(f"{body.provider}/") else f"{body.provider}/{model}"


def _chosen(names: tuple[str, ...], before: tuple[ToolChoice, ...]) -> tuple[ToolChoice, ...]:
    known = {canonical_name(choice.name): choice for choice in before}
    wanted = dict.fromkeys(canonical_name(name) for name in names)
    return tuple(known.get(name, ToolChoice(name=name)) for name in wanted)
