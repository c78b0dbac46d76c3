"""Rules about the nodes of a workflow's run."""

from collections.abc import Iterator

from app.domain.trace.findings.findings import Finding, Story

LONGEST_ERROR = 300  # characters


def node_failed(story: Story) -> Iterator[Finding]:
    """A node that failed, after which the run went on: at its error port, or with a value in its place."""
    for id_, runs in story.failed_nodes.items():
        first, many = runs[0], len(runs)
        if story.end is not None and story.end.status == "failed" and first.port is None:
            continue  # the run's own error tells it
        times = f" {many} times" if many > 1 else ""
        why = f": {first.error.text[:LONGEST_ERROR]}" if first.error else "."
        yield Finding(
            "node_failed",
            "warning",
            f"“{first.title}” ({id_}) failed{times}, and the run went on{why}",
            "Look at its inputs, and whether what comes after it should do without its value.",
            first.seq,
        )


def most_rounds(story: Story) -> Iterator[Finding]:
    """A loop that ended because it had gone round as often as it may."""
    for run in story.nodes:
        if run.kind == "loop" and isinstance(run.value, dict) and run.value.get("reached_most") is True:
            yield Finding(
                "most_rounds",
                "warning",
                f"“{run.title}” went round {run.done} times, the most it may, and what it waited for did not come.",
                "Look at what its body gave in the last rounds; allow more rounds, or end them earlier.",
                run.seq,
            )
