"""The demo model suggests prompts: fixed sentences and a rule, and it says that it is no more than that."""

import json
import re

from pydantic import JsonValue

from app.domain.evals.judging.fences import unfenced_parts
from app.domain.evals.suggestions import MOST_STEPS, SYSTEM
from app.domain.streaming import ModelRequest
from app.llm.demo.plan import Answer

LABEL = "The demo model follows a fixed rule and understands nothing."
ADVICE = (
    "Work through the task step by step with your tools, and check the result before you answer.",
    "Say the result itself, complete and without anything around it.",
    "Where a tool can work something out, call it; never guess.",
)
_OUT_OF_STEPS = re.compile(r"\b(steps?|model calls?)\b", re.IGNORECASE)


def suggested(request: ModelRequest) -> Answer | None:
    """Its proposal where it is asked for one; `None` where it is not."""
    if request.system is None or request.system.text != SYSTEM or not request.messages:
        return None
    parts, _ = unfenced_parts(request.messages[-1].text)
    prompt, settings = parts.get("PROMPT", ""), json.loads(parts.get("SETTINGS", "{}"))
    failures = [text for name, text in parts.items() if name.startswith("FAILURE")]
    advice = next((one for one in ADVICE if one not in prompt), "Be careful.")
    reasons: list[JsonValue] = [
        {"failure": number, "reason": _reason(text)} for number, text in enumerate(failures, start=1)
    ]
    short = any(_ran_out(text) for text in failures)
    reply: dict[str, JsonValue] = {
        "by_failure": reasons,
        "reason": f"{LABEL} It adds: {advice}{' It also doubles the steps, which ran out.' if short else ''}",
        "system_prompt": f"{prompt.rstrip()}\n\n{advice}".strip(),
        "temperature": None,
        "max_steps": min(MOST_STEPS, 2 * int(settings.get("max_steps", 10))) if short else None,
        "max_tokens": None,
        "tools": [],
    }
    return Answer(text=json.dumps(reply, ensure_ascii=False, indent=1), slowness=0)


def _ran_out(failure: str) -> bool:
    return bool(_OUT_OF_STEPS.search(failure.rpartition("Why it is not good:")[2]))


def _reason(failure: str) -> str:
    return f"{LABEL} " + ("Its steps ran out." if _ran_out(failure) else "The answer is not what was expected.")
