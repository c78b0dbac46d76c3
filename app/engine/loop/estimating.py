"""The usage of an answer whose provider named none, counted here: a limit must not rest on silence."""

from dataclasses import replace

from app.domain.messages import Usage
from app.domain.streaming import ModelRequest, Reply
from app.engine.ports import Models


async def with_usage(reply: Reply, request: ModelRequest, models: Models) -> Reply:
    """The reply with the usage that its provider named, or with about what it must have been."""
    if reply.usage.total_tokens > 0:
        return reply
    answer = replace(request, system=None, tools=(), output_schema=None, messages=(reply.message,))
    usage = Usage(
        input_tokens=await models.count_tokens(request),
        output_tokens=await models.count_tokens(answer),
        estimated=True,
    )
    return replace(reply, usage=usage)
