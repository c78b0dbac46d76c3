"""The demo model as a judge: it compares words by a rule anyone can follow, and says that it does no more than that."""

import json
import re

from pydantic import JsonValue

from app.domain.evals.judging.fences import unfenced_parts
from app.domain.evals.judging.questions import SYSTEM
from app.domain.streaming import ModelRequest
from app.llm.demo.plan import Answer

LABEL = "The demo model compares words and understands nothing."
_CRITERION = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_WORD = re.compile(r"[^\W_]{5,}")


def judged(request: ModelRequest) -> Answer | None:
    """Its verdict where it is asked for one; `None` where it is not. It reads what is fenced, and the task behind."""
    if request.system is None or request.system.text != SYSTEM or not request.messages:
        return None
    parts, task = unfenced_parts(request.messages[-1].text)
    criteria = _CRITERION.findall(task)
    reply = _pair(parts, criteria) if "FIRST" in parts else _criteria(parts, criteria)
    return Answer(text=json.dumps(reply, ensure_ascii=False, indent=1), slowness=0)


def _criteria(parts: dict[str, str], criteria: list[str]) -> dict[str, JsonValue]:
    answer = parts.get("ANSWER", "")
    found = [_meets(criterion, answer, parts.get("REFERENCE", "")) for criterion in criteria]
    decided: list[JsonValue] = [
        {"criterion": number, "meets_criterion": meets} for number, (meets, _) in enumerate(found, start=1)
    ]
    evidence: list[JsonValue] = [quote for _, quotes in found for quote in quotes]
    return {"evidence": evidence, "reasons": f"{LABEL} {_rule(parts)}", "criteria": decided}


def _pair(parts: dict[str, str], criteria: list[str]) -> dict[str, JsonValue]:
    """The answer in which more of the criterion, or of the reference, is found."""
    wanted = _wanted(criteria[0] if criteria else "", parts.get("REFERENCE", ""))
    counts = [sum(word in parts.get(name, "").casefold() for word in wanted) for name in ("FIRST", "SECOND")]
    better = "equal" if counts[0] == counts[1] else "first" if counts[0] > counts[1] else "second"
    return {"evidence": [], "reasons": f"{LABEL} {_rule(parts)}", "better": better}


def _meets(criterion: str, answer: str, reference: str) -> tuple[str, list[str]]:
    """Whether at least half of what is wanted stands in the answer, and what of it does, as it stands there."""
    wanted, folded = _wanted(criterion, reference), answer.casefold()
    found = [answer[place : place + len(word)] for word in wanted if (place := folded.find(word)) >= 0]
    if not wanted or not answer.strip():
        return "cannot_tell", []
    enough = len(wanted) if _QUOTED.search(criterion) or reference else (len(wanted) + 1) // 2
    return ("yes" if len(found) >= enough else "no"), [one for one in found if len(one) == len(one.casefold())]


def _wanted(criterion: str, reference: str) -> list[str]:
    """What the criterion has in quotes; else the reference; else its words of five letters or more."""
    quoted = [(one or other).casefold() for one, other in _QUOTED.findall(criterion)]
    return quoted or ([reference.strip().casefold()] if reference else _WORD.findall(criterion.casefold()))


def _rule(parts: dict[str, str]) -> str:
    sought = "the reference" if parts.get("REFERENCE") else "words of the criterion"
    return f"It looked for what a criterion has in quotes, else for {sought}."
