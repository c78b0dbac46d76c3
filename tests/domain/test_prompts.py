"""Templates of workflows; those of agents are tested with the agents."""

from app.domain.prompts import filled, path_of, placeholders, put, unreadable, variables_of


def test_paths_and_defaults_are_read_from_a_template():
    found = [
        (one.path.written, one.default) for one in placeholders("{{a}} {{ b.c[0].d ?? some words }} {{e ??}} {{f g}}")
    ]
    assert found == [("a", None), ("b.c[0].d", "some words"), ("e", "")]


def test_what_is_put_in_is_not_read_again():
    assert put("{{a}}{{b}}", lambda one: "{{b}}" if one.path.name == "a" else "x") == "{{b}}x"


def test_braces_without_a_path_are_found():
    assert unreadable("{{a}} {{b c}}") == "{{b c}}"
    assert unreadable("{{a") == "{{a"
    assert unreadable("{{a ?? b}} {c}") == ""


def test_a_path_is_read_only_whole():
    assert path_of("a.b-c") is path_of("a b") is path_of("") is None
    assert path_of(" a[-1] ").steps == (-1,)


def test_prompts_of_agents_know_no_paths():
    assert variables_of("{{a}} {{a.b}} {{c ?? d}}") == ("a",)
    assert filled("{{a}} {{a.b}}", {"a": "1"}) == "1 {{a.b}}"
