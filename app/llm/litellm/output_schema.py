"""How a model is told which JSON its answer has to be: by the provider's own means, or in words."""

import json
from dataclasses import replace
from types import ModuleType

from app.domain.messages import system_message
from app.domain.streaming import ModelRequest
from app.llm.litellm.wire import Json
from app.llm.providers.providers import Connection

_WITH_TOOLS = frozenset({"openai", "azure"})
"""Providers that take a schema beside tools. Others refuse the call (Gemini, Groq), or the schema keeps the model from
calling any tool (Ollama, and Claude before 4.5, which LiteLLM makes answer by a tool of its own)."""


def takes_schema(request: ModelRequest, connection: Connection, litellm: ModuleType) -> bool:
    """Whether the schema goes into the call itself; a provider that knows no schemas then gets none, by LiteLLM."""
    if request.output_schema is None:
        return False
    if not request.tools or connection.provider in _WITH_TOOLS:
        return True
    return bool(litellm.utils.supports_native_structured_output(model=connection.model))


def response_format(request: ModelRequest) -> Json:
    """The argument of the call. Not `strict`: OpenAI's strict mode refuses every schema with an optional field."""
    schema = request.output_schema
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


def with_schema_in_words(request: ModelRequest) -> ModelRequest:
    """The request with its schema, if it has one, at the end of the system prompt."""
    if request.output_schema is None:
        return request
    schema = json.dumps(request.output_schema, ensure_ascii=False)
    told = f"When you give your final answer, answer with JSON only, without a fence, of this JSON Schema:\n{schema}"
    before = f"{request.system.text}\n\n" if request.system else ""
    return replace(request, system=system_message(before + told))
