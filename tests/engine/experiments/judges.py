"""Models that judge by a rule of the test, each as its name says."""

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from app.domain.streaming import Delta, ModelRequest, Reply
from tests.engine.scripted import ScriptedModels, reply

Says = Callable[[ModelRequest], Reply | Exception | str]


@dataclass
class JudgeModels(ScriptedModels):
    """By name of a model: what it says to a request."""

    by_name: dict[str, Says] = field(default_factory=dict)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        self.requests.append(request)
        said = self.by_name[request.model](request)
        if isinstance(said, Exception):
            raise said
        yield said if isinstance(said, Reply) else reply(said)


def decides(*meets: str, evidence: tuple[str, ...] = (), reasons: str = "Because.") -> str:
    criteria = [{"criterion": number, "meets_criterion": one} for number, one in enumerate(meets, start=1)]
    return json.dumps({"evidence": evidence, "reasons": reasons, "criteria": criteria})


def prefers(better: str) -> str:
    return json.dumps({"evidence": [], "reasons": "Because.", "better": better})
