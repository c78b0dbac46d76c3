"""Rules about what the model was sent, and how its answers and the run ended."""

from collections.abc import Iterator

from app.domain.events import ContextTrimmed, Entry, LimitReached, MessageAdded, ModelFailed, ModelReturned, RunFinished
from app.domain.messages import Message
from app.domain.trace.findings.findings import Finding, Story
from app.domain.trace.fork_points import fork_points
from app.domain.trace.trajectory import step_number

WORTH_A_CACHE = 1024
"""Tokens of a prompt below which no provider keeps it."""
KEPT_SECONDS = 300
"""How long providers keep a prompt at least."""
LIMITS: dict[str, str] = {
    "steps": "steps of one run",
    "time": "seconds of one run",
    "tokens": "tokens of one answer",
    "run_tokens": "tokens of one run",
    "run_cost": "US dollars of one run",
    "session_cost": "US dollars of one session",
    "day_cost": "US dollars a day for this agent",
    "app_day_cost": "US dollars a day for all agents",
    "app_month_cost": "US dollars a month for all agents",
    "repeats": "equal calls in a row",
    "result_size": "bytes of one result",
    "nodes": "starts of nodes",
    "depth": "levels of agents that start agents",
}


def ended_by_error(story: Story) -> Iterator[Finding]:
    """A failed run of which steps are whole: they need not be made again. Of another, its error says it all."""
    if story.end is None or story.end.status != "failed":
        return
    place = max(fork_points(story.entries), default=1) - 1
    kept = step_number(story.entries, place)
    if not kept:
        return
    steps = "step 1 is" if kept == 1 else f"the {kept} steps before are"
    last = next((call for call in reversed(story.calls) if call.result is not None), None)
    after = f", right after {last.name} failed" if last is not None and last.result and last.result.failed else ""
    yield Finding(
        "ended_by_error",
        "problem",
        f"The run broke off in step {kept + 1}{after}; {steps} whole.",
        "Run on from there: nothing before it is paid for again, and what came back can be edited.",
        place,
    )


def cut_off(story: Story) -> Iterator[Finding]:
    """An answer that ends in the middle: too long, or broken off by its provider."""
    for entry, returned in story.returned:
        if returned.finish_reason == "length":
            yield Finding(
                "cut_off",
                "problem",
                f"The answer was cut off after {returned.usage.output_tokens:,} tokens, the most it may have.",
                "Raise the answer's longest length in the agent's settings, or ask for a shorter answer.",
                _message_before(story, entry.seq),
            )
    for entry, message in story.said:
        if message.partial and _broken_off(story, entry):
            yield Finding(
                "cut_off",
                "problem",
                "The answer broke off before its end.",
                "Retry to have it whole; what had arrived is kept.",
                entry.seq,
            )


def empty_answer(story: Story) -> Iterator[Finding]:
    """A run that is completed with nothing said."""
    if story.end is None or story.end.status != "completed" or story.answer is None:
        return
    entry, answer = story.answer
    if not answer.text.strip() and not answer.partial:
        yield Finding(
            "empty_answer",
            "problem",
            "The last answer is empty.",
            "Ask in the prompt for an answer in words at the end, or try another model.",
            entry.seq,
        )


def limit_reached(story: Story) -> Iterator[Finding]:
    """A limit that ended the run; that of one answer's length is told by `cut_off`."""
    for entry in story.own:
        match entry.event:
            case LimitReached(limit=limit, allowed=allowed) if limit != "tokens":
                yield Finding(
                    "limit_reached",
                    "problem",
                    f"The run ended at its limit: {allowed:g} {LIMITS[limit]}.",
                    "Raise that limit in the agent's settings, or find out below what used it up.",
                    entry.seq,
                )
            case _:
                pass


def context_trimmed(story: Story) -> Iterator[Finding]:
    """Messages that the model did not get any more."""
    trims = [(entry, entry.event) for entry in story.own if isinstance(entry.event, ContextTrimmed)]
    if not trims:
        return
    entry, last = trims[-1]
    many = len(last.left_out)
    were = "message was" if many == 1 else "messages were"
    yield Finding(
        "context_trimmed",
        "hint",
        f"The conversation did not fit: {many} {were} left out or shortened.",
        "If the answer misses something, start a new session, or pick a model that reads more at once.",
        entry.seq,
    )


def prompt_changed(story: Story) -> Iterator[Finding]:
    """Nothing came from the provider's cache, for the system prompt is another than in the run before."""
    before, started = story.before, story.started
    if before is None or started is None or not story.returned or before.system == started.system:
        return
    entry, first = story.returned[0]
    is_cacheable = first.usage.input_tokens >= WORTH_A_CACHE and before.model == started.model
    uses_cache = any(one.usage.cached_tokens or one.usage.cache_write_tokens for _, one in story.returned)
    if not is_cacheable or first.usage.cached_tokens or not uses_cache:
        return
    yield Finding(
        "prompt_changed",
        "warning",
        f"The system prompt is another than in the run before, so {first.usage.input_tokens:,} tokens were not "
        f"read from the provider's cache: {_difference(before.system, started.system)}.",
        "Move what changes, such as the time, to the end of the prompt or into the message.",
        _message_before(story, entry.seq),
    )


def cache_lost(story: Story) -> Iterator[Finding]:
    """A call that read much less from the provider's cache than the one before it."""
    for (earlier, before), (entry, now) in zip(story.returned, story.returned[1:], strict=False):
        kept, read = before.usage.cached_tokens, now.usage.cached_tokens
        too_late = (entry.at - earlier.at).total_seconds() > KEPT_SECONDS
        if kept < WORTH_A_CACHE or read > kept / 2 or too_late:
            continue
        trimmed = any(isinstance(one.event, ContextTrimmed) for one in story.between(earlier.seq, entry.seq))
        why = "its beginning was left out" if trimmed else "the beginning of what was sent had changed"
        yield Finding(
            "cache_lost",
            "warning",
            f"This call read {read:,} tokens from the provider's cache, the one before it {kept:,}: {why}.",
            "Keep the beginning of the conversation as it is; new things belong at its end.",
            _message_before(story, entry.seq),
        )
        return


def _difference(before: Message | None, now: Message | None) -> str:
    """Where two prompts part, with a few words of each."""
    old, new = before.text if before else "", now.text if now else ""
    place = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), -1)
    at = min(len(old), len(new)) if place < 0 else place
    return f"“{_around(old, at)}” became “{_around(new, at)}”"


def _around(text: str, at: int) -> str:
    return " ".join(text[max(0, at - 12) : at + 28].split()) or "nothing"


def _broken_off(story: Story, entry: Entry) -> bool:
    """Whether a partial message was ended by its provider: neither by a person nor by a limit."""
    for later in story.after(entry.seq):
        match later.event:
            case ModelFailed(failure=failure):
                return failure != "cancelled"
            case ModelReturned():
                return False
            case RunFinished(status=status):
                return status == "failed"
            case _:
                pass
    return False


def _message_before(story: Story, seq: int) -> int:
    """The model's message that a call which ended at `seq` wrote."""
    written = [entry.seq for entry in story.between(seq - 3, seq) if isinstance(entry.event, MessageAdded)]
    return written[-1] if written else seq
