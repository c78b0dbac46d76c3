"""What a coding agent is offered to make agents better with, for whose key may: the tools and what they take."""

from typing import Annotated

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.domain.evals.cases import LONGEST_INPUT, tags_of
from app.domain.evals.drafts import MOST_COLUMNS
from app.domain.evals.experiments import ToolMode
from app.domain.evals.scores import Rating
from app.domain.trace import RunStatus
from app.domain.values import Text

LONGEST_WAIT = 45
"""Seconds."""
MOST_ROWS = 50
Name = Annotated[Text, Field(max_length=200)]
Long = Annotated[Text, Field(max_length=LONGEST_INPUT)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SearchRuns(Arguments):
    """Find runs, the newest first: what was asked, how it ended, what people said of it, what it cost."""

    agent: Name = ""
    """An agent's slug."""
    text: Annotated[Text, Field(max_length=1000)] = ""
    """Words that are all said in the run; several in quotes as they stand."""
    status: RunStatus | None = None
    rating: Rating | None = None
    """The latest that a person gave."""
    noted: bool = False
    """Only runs with a note of a person."""
    behind: bool = False
    """Also runs of experiments, judges, simulated users and tries."""
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 20
    offset: Annotated[int, Field(ge=0)] = 0


class ReadRun(Arguments):
    """Read a run: its prompt, messages, calls of tools, results, answer, error, and what people said of it."""

    run_id: Name
    longest: Annotated[int, Field(ge=200, le=50_000)] = 2000
    """Characters of each text; what is longer is cut and says so."""


class MakeCase(Arguments):
    """Save a run as a case of a dataset: its message, files, answer, calls, and what its tools gave."""

    run_id: Name
    dataset: Name
    """Its slug."""
    new_dataset: bool = False
    """Makes a dataset of that name first."""
    step: Annotated[int, Field(ge=1)] | None = None
    """Only what the run did up to that answer of its model with calls; 1 for the first."""
    reference: JsonValue = None
    """The answer that is expected, in place of the one that the run gave."""
    must_pass: bool = False
    tags: Annotated[list[Name], Field(max_length=50)] = []
    note: Annotated[Text, Field(max_length=10_000)] = ""

    @property
    def own_tags(self) -> tuple[str, ...]:
        return tags_of(",".join(self.tags))


class StartExperiment(Arguments):
    """Try variants or models of an agent on a dataset, beside each other. It runs the agent, which may cost money.

    Answers at once; get_experiment tells what came of it. The first variant is the baseline. Tools answer from what
    the cases recorded.
    """

    dataset: Name
    """Its slug."""
    agent: Name
    """Its slug."""
    variants: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=MOST_COLUMNS)] = []
    """Their numbers; empty for the active one."""
    models: Annotated[list[Name], Field(max_length=MOST_COLUMNS)] = []
    """Each variant is tried with each of them; empty for its own."""
    beside: Annotated[list[Name], Field(max_length=MOST_COLUMNS)] = []
    """Slugs of other agents that are tried on the same cases, each with its active variant."""
    repeats: Annotated[int, Field(ge=1, le=20)] = 1
    tools: ToolMode = "recorded"
    """`live` calls for real those that need no leave."""
    scorers: Annotated[list[dict[str, JsonValue]], Field(max_length=20)] = []
    """In place of the dataset's, such as {"type": "exact"}, {"type": "contains", "texts": ["15"]},
    {"type": "numeric", "tolerance": 0.01}, {"type": "trajectory"}."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Asks whether the others are no worse than the baseline by more than this share, such as 0.05."""
    ceiling_usd: Annotated[float, Field(gt=0, le=1_000_000)] = 1.0
    """US dollars for all of it; what is left then is skipped."""


class GetExperiment(Arguments):
    """Tell how far an experiment is and what came of it: counts, rates, a verdict on each column, what failed."""

    experiment_id: Name
    wait: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0
    """Seconds to wait for its end."""
    cells: Annotated[int, Field(ge=0, le=MOST_ROWS)] = 10
    """Of those that failed, and of those that ended in an error, so many are shown."""


class ProposeVariant(Arguments):
    """Save a further variant of an agent. It never becomes the active one by this: a person decides on that."""

    agent: Name
    """Its slug."""
    reason: Annotated[Text, Field(min_length=1, max_length=1000)]
    """What is different and why, for the person who decides."""
    origin: Annotated[int, Field(ge=1)] | None = None
    """The variant to begin from; without it the active one."""
    system_prompt: Long | None = None
    """The whole prompt. Keep its {{variables}}."""
    model: Annotated[Name, Field(min_length=1)] | None = None
    """As `provider/model` or an alias."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None


TAKES: dict[str, type[Arguments]] = {
    "search_runs": SearchRuns,
    "read_run": ReadRun,
    "make_case": MakeCase,
    "start_experiment": StartExperiment,
    "get_experiment": GetExperiment,
    "propose_variant": ProposeVariant,
}
_READS = ("search_runs", "read_run", "get_experiment")


def _tool(name: str, takes: type[Arguments]) -> Tool:
    schema = takes.model_json_schema()
    words = " ".join(str(schema.pop("description")).split())
    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=words,
        input_schema=schema,
        annotations=ToolAnnotations(
            read_only_hint=name in _READS, destructive_hint=False, open_world_hint=name == "start_experiment"
        ),
    )


OF_EVALS = tuple(_tool(name, takes) for name, takes in TAKES.items())
