"""Reading docstrings."""

from app.tools.function.docstring import read_docstring


def test_googles_section_is_read_and_left_out_of_the_description() -> None:
    docs = read_docstring(
        """Sort rows.

        Keeps equal rows in order.

        Args:
            rows: The rows,
                as objects.
            by (str): A column.

        Returns:
            The rows.
        """,
        ["rows", "by"],
    )
    assert docs.description == "Sort rows.\n\nKeeps equal rows in order.\n\nReturns:\n    The rows."
    assert docs.arguments == {"rows": "The rows, as objects.", "by": "A column."}


def test_plain_lines_about_arguments_are_read() -> None:
    docs = read_docstring("Greet.\n\nname: Who it is.\n:param often: How often.", ["name", "often"])
    assert docs.description == "Greet."
    assert docs.arguments == {"name": "Who it is.", "often": "How often."}


def test_a_line_about_something_else_stays_in_the_description() -> None:
    docs = read_docstring("Greet.\n\nNote: it is loud.", ["name"])
    assert docs.description == "Greet.\n\nNote: it is loud."
    assert docs.arguments == {}


def test_a_colon_in_an_explanation_starts_no_argument() -> None:
    docs = read_docstring("Do.\n\nArgs:\n    a: One of\n        b: like this\n    b: Two.", ["a", "b"])
    assert docs.arguments == {"a": "One of b: like this", "b": "Two."}


def test_an_unknown_name_in_the_section_is_not_taken_for_the_argument_before_it() -> None:
    docs = read_docstring("Do.\n\nArgs:\n    a: One.\n    context: Filled in.\n", ["a"])
    assert docs.arguments == {"a": "One."}


def test_there_need_not_be_a_docstring() -> None:
    assert read_docstring(None, ["a"]).description == ""


def test_wrapped_lines_of_a_paragraph_are_one_line_and_lists_keep_theirs() -> None:
    docs = read_docstring("Count words.\n\nOf a text that\nis long:\n- one\n- two\n\nAnd\nmore.", ())

    assert docs.description == "Count words.\n\nOf a text that is long:\n- one\n- two\n\nAnd more."
