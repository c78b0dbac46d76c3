"""A model of each provider, led to its fake server."""

from dataclasses import dataclass, field

from app.domain.errors import ModelFailure
from app.domain.messages import Message, user_message
from app.domain.streaming import Delta, ModelRequest, Reply
from app.domain.tools import JsonSchema, ToolSpec
from app.llm.attachments.attachments import Attachments
from app.llm.litellm.litellm_model import LiteLLMModel
from app.llm.providers.catalog import Catalog
from app.llm.providers.providers import Keys, connection
from tests.fakes.openai import SECRET

CATALOG = Catalog()
"""One for all, since reading it takes a tenth of a second."""
WEATHER = ToolSpec(
    name="get_weather",
    description="The weather in a city",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def keys_for(url: str) -> Keys:
    """An environment in which every provider is at that address."""
    variables = {
        "OPENAI_API_KEY": SECRET,
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_API_KEY": "sk-ant-fake-0123456789",
        "ANTHROPIC_BASE_URL": url,
        "GEMINI_API_KEY": "AIzaFake0123456789",
        "GEMINI_BASE_URL": url,
        "OLLAMA_HOST": url,
        "LM_STUDIO_API_BASE": url,
    }
    return lambda name: variables.get(name, "")


@dataclass
class Outcome:
    """What came of one call."""

    deltas: list[Delta] = field(default_factory=list)
    reply: Reply | None = None
    failure: ModelFailure | None = None

    @property
    def message(self) -> Message:
        assert self.reply is not None, self.failure
        return self.reply.message

    @property
    def text(self) -> str:
        return self.failure.text if self.failure else self.message.text


def model(name: str, url: str, artifacts: dict[str, bytes] | None = None) -> LiteLLMModel:
    async def read(digest: str) -> bytes:
        return (artifacts or {})[digest]

    keys = keys_for(url)
    return LiteLLMModel(name, lambda: connection(name, keys), Attachments(CATALOG, read))


async def call(
    name: str,
    url: str,
    *messages: Message,
    tools: tuple[ToolSpec, ...] = (),
    idle_timeout: float = 60,
    artifacts: dict[str, bytes] | None = None,
    output_schema: JsonSchema | None = None,
) -> Outcome:
    request = ModelRequest(
        name,
        messages or (user_message("hi"),),
        tools=tools,
        output_schema=output_schema,
        idle_timeout=idle_timeout,
    )
    outcome = Outcome()
    try:
        async for item in model(name, url, artifacts).stream(request):
            assert outcome.reply is None, "nothing may follow the reply"
            if isinstance(item, Reply):
                outcome.reply = item
            else:
                outcome.deltas.append(item)
    except ModelFailure as failure:
        outcome.failure = failure
    return outcome
