"""Tasks that are handed over to runs of their own, one or several at the same time."""

import re
from collections.abc import Mapping

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told, without

_HAND_OVER = r"^\W*(?:please\s+|now\s+|can you\s+)*(?:spawns?|starts?|begins?|delegates?|hands?\s+over)\s+"
_ONE = re.compile(
    _HAND_OVER + r"(?:an?|one|another)\s+(?:sub[- ]?)?task\b\s*+(?:that|which|to|for|:|,)?\s*+(?P<tasks>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SEVERAL = re.compile(
    _HAND_OVER + r"(?:\w+\s+)?(?:sub[- ]?)?tasks\b\s*+(?:that|which|to|for|:|,)?\s*+(?P<tasks>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_PARALLEL = re.compile(
    r"^\W*+(?:please\s+|now\s+|can you\s+)*+(?:do\s+)?(?P<tasks>\S.*?)\sin parallel,?\s+(?:with|as|in|by|using)\s+"
    r"(?:\w+\s+)?(?:sub[- ]?)?tasks\W*$",
    re.IGNORECASE | re.DOTALL,
)
_AND = re.compile(r"[;\n]|,?\sand\s", re.IGNORECASE)
_AGENT = re.compile(r",?\s(?:by|with|to)\s+(?:the\s+)?agent\s+[`\"']?(?P<agent>[\w-]+)[`\"']?", re.IGNORECASE)
_LEAVE = re.compile(
    r",?\s(?:and\s+(?:do not|don't)\s+wait(?:\s+for\s+(?:it|them))?|without waiting(?:\s+for\s+(?:it|them))?)",
    re.IGNORECASE,
)
_THE_SAME = re.compile(r"^(?:does|do)\s+the\s+same\W*$", re.IGNORECASE)
_VERB = re.compile(r"^(?P<verb>[a-z]+[a-rt-z])s\b", re.IGNORECASE)
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def hand_over(ask: Ask) -> Answer | None:
    """Start a task for each thing that is to be done, then wait for all of them and tell what came of it."""
    tasks = _tasks(ask.text)
    if not tasks:
        return None
    spawned = [result for result in ask.results if result.name == "spawn_task"]
    if failed := next((result for result in spawned if result.failed), None):
        return told(failed)
    if len(spawned) < len(tasks):
        return without(ask, "spawn_task") or _spawn(ask, tasks[len(spawned) :])
    return _after(ask, tasks, spawned)


def _after(ask: Ask, tasks: list[str], spawned: list[ToolResult]) -> Answer:
    """What follows once all of them are on their way."""
    if _LEAVE.search(ask.text) or "join_task" not in ask.tools:
        ids = "\n".join(f"- `{result.text}`: {task}" for result, task in zip(spawned, tasks, strict=False))
        return Answer(text=f"These go on by themselves; the Jobs page shows how far they are:\n\n{ids}")
    joined = [result for result in ask.results if result.name == "join_task"]
    if len(joined) < len(spawned):
        return _join(ask, [result.text for result in spawned[len(joined) :]])
    return Answer(text=_all_told(tasks, joined))


def _tasks(text: str) -> list[str]:
    """What is to be done, each in words that stand alone; nothing where no task is asked for."""
    bare = _LEAVE.sub("", _AGENT.sub("", text))
    if one := _ONE.match(bare):
        wanted = one["tasks"].strip()
        return [text if _THE_SAME.match(wanted) else _as_order(wanted)]
    several = _SEVERAL.match(bare) or _PARALLEL.match(bare)
    return [_as_order(task) for task in _AND.split(several["tasks"]) if task.strip(" .")] if several else []


def _as_order(task: str) -> str:
    """ "writes a poem" as "write a poem"."""
    return _VERB.sub(lambda match: match["verb"], task.strip())


def _spawn(ask: Ask, tasks: list[str]) -> Answer:
    agent = _AGENT.search(ask.text)
    others: Mapping[str, JsonValue] = {"agent": agent["agent"]} if agent else {}
    wishes = tuple(Wish("spawn_task", {"task": task, **others}) for task in tasks)
    count = "one task" if len(tasks) == 1 else f"{len(tasks)} tasks that need nothing of one another"
    return Answer(
        thought=f"This is {count}: I hand it over to a run of its own, and wait for what comes of it.",
        text="I hand this over. ",
        wishes=wishes if ask.parallel else wishes[:1],
    )


def _join(ask: Ask, task_ids: list[str]) -> Answer:
    wishes = tuple(Wish("join_task", {"task_id": task_id}) for task_id in task_ids)
    return Answer(text="Now I wait for the end. ", wishes=wishes if ask.parallel else wishes[:1])


def _all_told(tasks: list[str], joined: list[ToolResult]) -> str:
    told_of = "\n\n".join(_told_of(task, result) for task, result in zip(tasks, joined, strict=False))
    return f"{'It is' if len(tasks) == 1 else 'All of it is'} back.\n\n{told_of}"


def _told_of(task: str, result: ToolResult) -> str:
    try:
        end = _OBJECT.validate_json(result.text)
    except ValidationError:
        return f"**{task}**: {told(result).text}"
    files = end.get("files")
    changed = f"\n\nIt changed {', '.join(map(str, files))}." if isinstance(files, list) and files else ""
    said = str(end.get("answer") or end.get("error") or "(it said nothing)")
    return f"**{task}** ({end.get('status')}):\n\n{said}{changed}"
