"""Which rows of a list are chosen after a click, with or without Shift."""

from collections.abc import Collection, Sequence


def picked(rows: Sequence[str], chosen: Collection[str], clicked: str, *, since: str | None) -> list[str]:
    """The chosen rows, in the order of the list, after a click on one of them.

    `since` is where a range begins: all rows from there to the clicked one become what the clicked one becomes.
    """
    wanted = clicked not in chosen
    touched = {clicked}
    if since in rows and clicked in rows:
        first, last = sorted((rows.index(since), rows.index(clicked)))
        touched = set(rows[first : last + 1])
    return [row for row in rows if (wanted if row in touched else row in chosen)]
