"""Scorers as they are written down: what makes an answer a good one. How they judge is in `scoring` and the engine."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from app.domain.values import Text, Value

NAME = Field(min_length=1, max_length=60)
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Without end there is none: stored as JSON it could not be read again."""


class ScorerBase(Value):
    name: Annotated[str, NAME] = ""
    """What it is called in tables, unique in its dataset."""
    threshold: Share = 1.0
    """The least value, from 0 to 1, with which a case passes."""


class Exact(ScorerBase):
    """The answer is the reference."""

    type: Literal["exact"] = "exact"
    name: Annotated[str, NAME] = "exact"
    ignore_case: bool = False
    ignore_space: bool = True
    """Whether spaces around it, and how many stand between words, matter not."""


class Contains(ScorerBase):
    """The answer contains all, any or none of some texts; without texts: the reference."""

    type: Literal["contains"] = "contains"
    name: Annotated[str, NAME] = "contains"
    texts: tuple[Text, ...] = ()
    mode: Literal["all", "any", "none"] = "all"
    ignore_case: bool = True


class Regex(ScorerBase):
    """A pattern is found in the answer, in time proportional to it."""

    type: Literal["regex"] = "regex"
    name: Annotated[str, NAME] = "regex"
    pattern: str = ""
    """As RE2 and Rust read it, without look-around and back-references; empty: the reference is the pattern."""
    whole: bool = False
    """Whether the whole answer must match."""


class JsonMatch(ScorerBase):
    """The answer is JSON, and what stands at each path is what the reference has there."""

    type: Literal["json"] = "json"
    name: Annotated[str, NAME] = "json"
    paths: tuple[str, ...] = ()
    """Expressions of which each is looked up in both; without any the whole is compared."""
    expected: dict[str, JsonValue] = {}
    """By path: what is to be there, in place of the reference's."""
    tolerance: Amount = 0.0
    """How far numbers may be from each other."""
    extra_keys: bool = True
    """Whether the answer may say more than the reference."""


class Numeric(ScorerBase):
    """A number in the answer is near the reference."""

    type: Literal["numeric"] = "numeric"
    name: Annotated[str, NAME] = "numeric"
    path: str = ""
    """An expression for the number in an answer that is JSON; empty: the last number in the text."""
    tolerance: Amount = 0.0
    relative: Amount = 0.0
    """As a share of the reference: 0.01 lets it be off by 1 %. The larger of the two counts."""


class Latency(ScorerBase):
    """The answer came in time, waiting for people and retries not counted."""

    type: Literal["latency"] = "latency"
    name: Annotated[str, NAME] = "latency"
    most_seconds: Annotated[Amount, Field(gt=0)] = 30.0


class Cost(ScorerBase):
    """The answer cost no more than that."""

    type: Literal["cost"] = "cost"
    name: Annotated[str, NAME] = "cost"
    most_usd: Amount = 0.05


class Steps(ScorerBase):
    """The answer took no more steps, and no more calls of tools, than that."""

    type: Literal["steps"] = "steps"
    name: Annotated[str, NAME] = "steps"
    most_steps: Annotated[int, Field(ge=1)] | None = None
    most_calls: Annotated[int, Field(ge=0)] | None = None


Relation = Literal["same_order", "any_order", "at_least_in_order", "at_least", "nothing_but"]
"""The same calls in this order; in any; at least these, in this order or in any; nothing but these."""
ArgumentMatch = Literal["equal", "contain", "fields", "ignore"]


class Trajectory(ScorerBase):
    """The calls of tools are those that the case expects."""

    type: Literal["trajectory"] = "trajectory"
    name: Annotated[str, NAME] = "trajectory"
    relation: Relation = "at_least_in_order"
    arguments: ArgumentMatch = "contain"
    fields: tuple[str, ...] = ()
    """The names of the arguments that count, where only some do."""
    per_tool: dict[str, ArgumentMatch] = {}
    """By tool: how its arguments are compared, in place of `arguments`."""
    count_failed: bool = False
    """Whether calls that failed or were denied count as made."""
    graded: bool = False
    """Whether the value is F1 of the matched calls, in place of yes or no."""


class PythonFile(ScorerBase):
    """A file in the folder `scorers` judges, in a process of its own."""

    type: Literal["python"] = "python"
    name: Annotated[str, NAME]
    file: str
    """Its name in that folder."""
    settings: dict[str, JsonValue] = {}
    """Handed to it."""


class Judge(ScorerBase):
    """A model reads the answer and says of each criterion whether it is met."""

    type: Literal["judge"] = "judge"
    name: Annotated[str, NAME] = "judge"
    model: str
    criteria: Annotated[tuple[Text, ...], Field(min_length=1, max_length=5)]
    """Each a positive sentence about the answer: "It names the price." """
    votes: Literal[1, 3] = 1
    """With 3 each is asked twice more where they disagree or one is in doubt; the majority of each criterion counts."""
    sees_calls: bool = False
    """Whether it is shown the calls of tools too."""
    juries: tuple[str, ...] = ()
    """Further models that vote."""


class Pairwise(ScorerBase):
    """A model says whether the answer is better than the baseline's, asked in both orders; a flip is a tie."""

    type: Literal["pairwise"] = "pairwise"
    name: Annotated[str, NAME] = "pairwise"
    model: str
    criterion: Text
    threshold: Share = 0.5


def span_of(scorer: "Scorer | None") -> float:
    """The most by which a score can differ from the baseline's: where answers are compared with that, it is 0.5."""
    return 0.5 if isinstance(scorer, Pairwise) else 1.0


Check = Annotated[
    Exact | Contains | Regex | JsonMatch | Numeric | Latency | Cost | Steps | Trajectory, Field(discriminator="type")
]
"""What a single case may ask of its answers: nothing that costs money or runs code."""


class Checks(ScorerBase):
    """What the case itself asks holds; the value is the share that does. A case that asks nothing is not scored."""

    type: Literal["checks"] = "checks"
    name: Annotated[str, NAME] = "checks"


Scorer = Annotated[
    Exact
    | Contains
    | Regex
    | JsonMatch
    | Numeric
    | Latency
    | Cost
    | Steps
    | Trajectory
    | Checks
    | PythonFile
    | Judge
    | Pairwise,
    Field(discriminator="type"),
]
NEEDS_MODEL = ("judge", "pairwise")
"""The types that ask a model, which costs money."""
