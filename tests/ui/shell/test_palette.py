import asyncio
from collections.abc import Sequence
from pathlib import Path

from nicegui import Client, ui
from nicegui.page import page

from app.domain.agents import PromptBehaviour, new_agent
from app.ui.elements.markup import Html
from app.ui.shell.commands import commands
from app.ui.shell.palette import SHOWN, Command, Palette, listed, matching, score
from tests.api.over import opened

COMMANDS = [
    Command("Pages", title, "forum", lambda: None) for title in ("Playground", "Runs", "Python analyst", "Dark theme")
]


def titles(query: str) -> list[str]:
    return [command.title for command in matching(COMMANDS, query)]


def test_nothing_typed_shows_everything_in_order() -> None:
    assert titles("") == [command.title for command in COMMANDS]


def test_the_beginning_of_a_word_fits_best() -> None:
    assert titles("an")[0] == "Python analyst"
    assert titles("p")[0] == "Playground"


def test_a_group_stands_together_behind_its_best_one() -> None:
    tools = [Command("Tools", title, "build", lambda: None) for title in ("Parse dates", "Run a program")]
    html = listed(matching([tools[0], *COMMANDS, tools[1]], "r"), 0)
    assert html.count(">Pages<") == html.count(">Tools<") == 1
    assert html.index(">Runs<") < html.index(">Run a program<")


def test_many_of_a_group_that_fit_a_little_hide_nothing_that_fits_well() -> None:
    tools = [Command("Tools", f"theme {number}", "build", lambda: None) for number in range(SHOWN)]
    assert "Dark theme" not in [one.title for one in matching([*tools, *COMMANDS], "theme")]
    loose = [Command("Tools", f"the {number} me", "build", lambda: None) for number in range(SHOWN)]
    found = [one.title for one in matching([tools[0], *loose, *COMMANDS], "theme")]
    assert len(found) == SHOWN and "Dark theme" in found


def test_a_word_begun_beats_letters_inside_one() -> None:
    begun, inside = score("an", "to an end"), score("an", "banner")
    assert begun is not None
    assert inside is not None
    assert begun < inside


def test_letters_may_be_left_out() -> None:
    assert titles("dkth") == ["Dark theme"]
    assert titles("pyan") == ["Python analyst"]


def test_letters_in_another_order_do_not_fit() -> None:
    assert score("sunr", "Runs") is None
    assert titles("zzz") == []


def test_the_chosen_one_is_marked() -> None:
    html = listed(COMMANDS, 1)
    assert html.count('aria-selected="true"') == 1
    assert html.index(">Runs<") > html.index('aria-selected="true"') > html.index("Pages/Playground")


def test_an_empty_list_has_words() -> None:
    assert "Nothing fits" in listed([], 0)


def test_what_was_said_comes_behind_the_titles_that_have_what_was_typed_and_in_place_of_loose_ones():
    known = Command("Sessions", "About runs", "forum", lambda: None, key="s1")
    found = [Command("Sessions", "About runs", "forum", lambda: None, below=Html("the <mark>runs</mark>"), key="s1")]
    assert [one.title for one in matching([*COMMANDS, known], "runs", found)] == ["Runs", "About runs"]
    assert matching(COMMANDS, "pyan", found) == found
    assert listed(found, 0).count("<mark>runs</mark>") == 1


async def nothing_is_found(_: str) -> Sequence[Command]:
    return ()


async def test_a_command_goes_on_when_the_palette_has_closed_meanwhile() -> None:
    shown: list[ui.label] = []

    async def slow() -> None:
        palette._gone()
        await asyncio.sleep(0)
        shown.append(ui.label("there"))

    with Client(page("")) as client:
        palette = Palette(lambda: [Command("Pages", "Slow", "forum", slow)], nothing_is_found)
        palette.open()
        assert palette._list is not None and palette._list.parent_slot is not None
        with palette._list.parent_slot:
            await palette._clicked("Pages/Slow")
    assert [one.client for one in shown] == [client]
    client.delete()


async def test_of_two_that_are_called_the_same_the_one_that_was_clicked_runs(tmp_path: Path):
    workbench = opened(tmp_path)
    first = await workbench.agents.create(new_agent("Twin", PromptBehaviour(), taken_slugs=()))
    second = await workbench.agents.create(new_agent("Twin", PromptBehaviour(), taken_slugs=(first.slug,)))
    names = [command.name for command in commands(workbench) if command.title in ("Twin", "Edit Twin")]
    assert len(names) == len(set(names)) == 4 and f"Agents/{second.id}" in names
    await workbench.close()


async def test_what_was_clicked_runs_though_the_list_has_changed_meanwhile():
    ran: list[str] = []

    async def nothing_is_found(_query: str) -> Sequence[Command]:
        return ()

    known = [Command("Pages", title, "forum", lambda title=title: ran.append(title)) for title in ("Runs", "Tools")]
    with Client(page("")) as client:
        palette = Palette(lambda: known, nothing_is_found)
        palette.open()
        palette._show("to")
        assert [one.title for one in palette._found] == ["Tools"]
        await palette._clicked("Pages/Runs")
        await palette._clicked("Pages/Gone")
    assert ran == ["Runs"]
    client.delete()
