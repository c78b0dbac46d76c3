"""What a judge's reply says. A verdict is read from its fields and from nothing else."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from app.domain.evals.scoring.opinion import NotScored, Opinion
from app.domain.reading.answers import unfenced
from app.domain.values import Strict, Text

Meets = Literal["yes", "no", "cannot_tell"]
Better = Literal["first", "second", "equal", "cannot_tell"]


class CriterionReply(Strict):
    criterion: int
    meets_criterion: Meets


class CriteriaReply(Strict):
    evidence: tuple[Text, ...]
    reasons: Text
    criteria: tuple[CriterionReply, ...]


class PairReply(Strict):
    evidence: tuple[Text, ...]
    reasons: Text
    better: Better


R = TypeVar("R", CriteriaReply, PairReply)


class Verdict(NamedTuple):
    """What a judge decided of each criterion, in their order."""

    meets: tuple[Meets, ...]
    reasons: str
    unfound: int = 0
    """Quotes that do not stand in what it judged."""

    @property
    def in_doubt(self) -> bool:
        return self.unfound > 0 or len(set(self.meets)) > 1 or "cannot_tell" in self.meets


def read_reply(kind: type[R], text: str) -> R:
    """The reply, where it is JSON of its schema. Raises `NotScored`."""
    try:
        return kind.model_validate_json(unfenced(text))
    except ValidationError as error:
        raise NotScored("The judge's reply is no verdict: it is not the JSON that it was asked for.") from error


def verdict_of(reply: CriteriaReply, *, count: int, judged: str) -> Verdict:
    """Raises `NotScored` for other criteria than asked, and where nothing it quotes stands in what it `judged`."""
    decided = {one.criterion: one.meets_criterion for one in reply.criteria}
    if len(reply.criteria) != count or decided.keys() != set(range(1, count + 1)):
        raise NotScored("The judge's reply is no verdict: it does not decide each criterion once.")
    meets = tuple(decided[number] for number in range(1, count + 1))
    return Verdict(meets, reply.reasons, _unfound(reply.evidence, judged))


def agreed(verdicts: Sequence[Verdict], *, silent: int = 0) -> Opinion:
    """The share of criteria that most find met; `silent` judges gave no verdict. Raises `NotScored` on no majority."""
    count = len(verdicts[0].meets)
    most = [_majority([verdict.meets[place] for verdict in verdicts]) for place in range(count)]
    missed = [str(place) for place, meets in enumerate(most, start=1) if meets == "no"]
    open_ones = [str(place) for place, meets in enumerate(most, start=1) if meets == "cannot_tell"]
    heard = next((one for one in verdicts if list(one.meets) == most), verdicts[0])
    notes = [
        f"Not met: criterion {', '.join(missed)}." if missed and count > 1 else "",
        _split(verdicts, most),
        f"Quotes that do not stand there: {heard.unfound}." if heard.unfound else "",
        f"Judges without a verdict: {silent}." if silent else "",
        heard.reasons,
    ]
    reason = " ".join(note for note in notes if note)
    if open_ones:
        which = f" of criterion {', '.join(open_ones)}" if count > 1 else ""
        raise NotScored(f"The judge cannot tell{which}. {reason}")
    return Opinion(most.count("yes") / count, reason)


def compared(ours_first: PairReply, ours_second: PairReply) -> tuple[Opinion, bool]:
    """What becomes of both orders, and whether the verdict changed with them. Raises `NotScored`."""
    if "cannot_tell" in (ours_first.better, ours_second.better):
        raise NotScored(f"The judge cannot tell which answer is better. {ours_first.reasons}")
    wins = (_value(ours_first.better), 1 - _value(ours_second.better))
    if wins[0] == wins[1]:
        words = {1.0: "Better than the baseline.", 0.0: "Worse than the baseline.", 0.5: "As good as the baseline."}
        return Opinion(wins[0], f"{words[wins[0]]} {ours_first.reasons}"), False
    return Opinion(0.5, "The verdict changed with the order of the answers, so it is a tie."), True


def _value(better: Better) -> float:
    """For the answer that came first."""
    return {"first": 1.0, "second": 0.0}.get(better, 0.5)


def _majority(said: Sequence[Meets]) -> Meets:
    [(meets, count)] = Counter(said).most_common(1)
    return meets if 2 * count > len(said) else "cannot_tell"


def _split(verdicts: Sequence[Verdict], most: Sequence[Meets]) -> str:
    """How the votes fell on the criterion they differ on most; empty where all agree."""
    agreeing = [sum(one.meets[place] == meets for one in verdicts) for place, meets in enumerate(most)]
    fewest = min(agreeing)
    return f"Votes {fewest}:{len(verdicts) - fewest}." if fewest < len(verdicts) else ""


def check_quotes(reply: PairReply, *, judged: str) -> PairReply:
    """The reply; raises `NotScored` where nothing that it quotes stands in what it `judged`."""
    _unfound(reply.evidence, judged)
    return reply


def _unfound(quotes: Sequence[str], judged: str) -> int:
    """How many of the quotes do not stand there; raises `NotScored` where that is all of them."""
    plain = _plain(judged)
    missing = sum(_plain(quote) not in plain for quote in quotes)
    if quotes and missing == len(quotes):
        raise NotScored("The judge's reply is no verdict: nothing that it quotes stands in what it judged.")
    return missing


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'“”„…. ").casefold()
