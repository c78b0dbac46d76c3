"""REST: what there is to score with."""

from app.workbench import Workbench


async def test_the_types_of_scorers_and_the_files_are_told_without_running_any(client, workbench: Workbench):
    folder = workbench.scorer_files.folder
    folder.mkdir()
    (folder / "tone.py").write_text(
        f'"""Is it polite?"""\nopen({str(folder / "ran")!r}, "w")\ndef score(answer): ...\n'
    )
    (folder / "odd.py").write_text("x = 1\n")
    told = (await client.get("/scorers")).json()["data"]
    assert [one["type"] for one in told["types"]] == [
        "exact", "contains", "regex", "json", "numeric", "latency", "cost", "steps", "trajectory", "checks", "python",
        "judge", "pairwise",
    ]  # fmt: skip
    assert [one["type"] for one in told["types"] if one["asks_a_model"]] == ["judge", "pairwise"]
    regex = told["types"][2]
    assert regex["description"] == "A pattern is found in the answer, in time proportional to it."
    assert {"pattern", "whole", "threshold", "name"} <= set(regex["fields"]["properties"])
    assert told["files"] == [
        {
            "file": "odd.py", "description": "", "trusted": False,
            "problem": "odd.py has no function score(answer, reference, case, calls).",
        },
        {"file": "tone.py", "description": "Is it polite?", "trusted": False, "problem": None},
    ]  # fmt: skip
    assert not (folder / "ran").exists()
    await workbench.scorer_files.trust("tone.py")
    assert (await client.get("/scorers")).json()["data"]["files"][1]["trusted"]


async def test_without_the_folder_there_are_no_files(client):
    assert (await client.get("/scorers")).json()["data"]["files"] == []
