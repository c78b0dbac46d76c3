from app.ui.shell.navigation import NavCounts, navigation
from app.ui.shell.pause_sound import sound_switch


def test_the_pages_stand_in_their_groups_and_the_open_one_is_marked():
    shown = navigation("/jobs?show=running", NavCounts())
    assert shown.index("Workspace") < shown.index("nav-runs") < shown.index("System") < shown.index("nav-jobs")
    assert shown.count('aria-current="page"') == 1
    assert 'data-testid="nav-jobs" aria-current="page"' in shown


def test_a_page_below_another_marks_that_one():
    assert 'data-testid="nav-runs" aria-current="page"' in navigation("/runs/r1", NavCounts())
    assert 'data-testid="nav-playground" aria-current="page"' in navigation("/playground/s1", NavCounts())
    assert 'data-testid="nav-overview" aria-current="page"' in navigation("/", NavCounts())
    assert 'data-testid="nav-overview" aria-current="page"' not in navigation("/runs", NavCounts())


def test_what_waits_and_what_runs_is_counted_in_words():
    shown = navigation("/", NavCounts(waiting=1, jobs=2))
    assert 'aria-label="1 run waiting for your decision" data-testid="waiting-badge">1<' in shown
    assert 'aria-label="2 runs going on in the background" data-testid="jobs-badge">2<' in shown


def test_where_nothing_goes_on_no_number_is_shown():
    assert "badge" not in navigation("/", NavCounts())


def test_the_sound_says_whether_it_is_on():
    assert 'aria-checked="true"' in sound_switch(on=True)
    assert 'aria-checked="false"' in sound_switch(on=False)
