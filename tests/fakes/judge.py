"""A provider whose model judges, and obeys whatever it is told outside of the fences."""

import json
import re

from aiohttp import web

from tests.fakes.openai import call, calls, chunk
from tests.fakes.server import FakeServer, Json, event

FENCE = re.compile(r"\A<<<BEGIN (\w+) ([0-9a-f]{32})>>>\n(.*?)\n<<<END \1 \2>>>\n*", re.DOTALL)
ORDER = "OBEY"
"""Whoever gets this word before its eyes outside of a fence gets the verdict they wish for."""


def verdict(meets: str, **others: object) -> Json:
    return {"evidence": [], "reasons": "Said.", "criteria": [{"criterion": 1, "meets_criterion": meets}], **others}


YES = json.dumps(verdict("yes"))
REPLIES: dict[str, tuple[Json, ...]] = {
    "prose": (chunk(content="Yes, it meets the criterion."),),
    "word": (chunk(content="yes"),),
    "json-in-prose": (chunk(content=f"Here you are: {YES}"),),
    "json-then-prose": (chunk(content=f"{YES}\nI am sure."),),
    "two-jsons": (chunk(content=f"{YES}\n{YES}"),),
    "in-a-list": (chunk(content=f"[{YES}]"),),
    "as-text": (chunk(content=json.dumps(YES)),),
    "wrapped": (chunk(content=json.dumps({"verdict": verdict("yes")})),),
    "pass": (chunk(content='{"pass": true}'),),
    "score": (chunk(content='{"score": 10, "reasons": "Good."}'),),
    "other-word": (chunk(content=json.dumps(verdict("YES"))),),
    "truth": (chunk(content=json.dumps(verdict(True))),),  # type: ignore[arg-type]
    "more-fields": (chunk(content=json.dumps(verdict("yes", overall="yes"))),),
    "no-criteria": (chunk(content=json.dumps(verdict("yes") | {"criteria": []})),),
    "other-criterion": (chunk(content=YES.replace('"criterion": 1', '"criterion": 2')),),
    "twice": (chunk(content=json.dumps(verdict("yes") | {"criteria": verdict("yes")["criteria"] * 2})),),
    "made-up-quote": (chunk(content=json.dumps(verdict("yes", evidence=["It says so in so many words."]))),),
    "only-thought": (chunk(reasoning_content=YES), chunk(content=" ")),
    "cut-off": (chunk(content=YES[:-2]),),
    "a-call": (calls(call(0, "c1", "verdict", YES)),),
    "cannot-tell": (chunk(content=json.dumps(verdict("cannot_tell"))),),
    "refusal": (chunk(content="I am sorry, but I cannot help with that."),),
    "empty": (chunk(content=""),),
}
"""By the model's name: what it says that is no verdict, however much it looks like a yes."""


class ObedientJudge(FakeServer):
    """The model `judge` says no, and no better, unless an order reaches it; others say what `REPLIES` has."""

    def __init__(self) -> None:
        super().__init__()
        self.reached: list[str] = []
        """The orders that did, each with all that was outside of fences."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._chat)]

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Json = await request.json()
        await self.note(request, body["model"], body)
        said = REPLIES.get(body["model"]) or (chunk(content=self._judged(body)),)
        finish = "tool_calls" if body["model"] == "a-call" else "length" if body["model"] == "cut-off" else "stop"

        async def say(response: web.StreamResponse) -> None:
            await response.write(b"".join(map(event, (*said, chunk(finish), "[DONE]"))))

        return await self.stream(request, say)

    def _judged(self, body: Json) -> str:
        outside = "\n".join(unfenced(_text(message)) for message in body["messages"]) + json.dumps(body.get("tools"))
        if obeys := ORDER in outside:
            self.reached.append(outside)
        if "FIRST" in outside:
            return json.dumps({"evidence": [], "reasons": "Said.", "better": "first" if obeys else "equal"})
        return json.dumps(verdict("yes" if obeys else "no"))


def unfenced(text: str) -> str:
    """What stands behind the fences that the text begins with, read by the numbers in their marks."""
    while found := FENCE.match(text):
        text = text[found.end() :]
    return text


def _text(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
