"""A workbench over the same data with some other parts."""

import copy

from app.workbench import Workbench


def having(workbench: Workbench, **parts: object) -> Workbench:
    """The same with those in place of its own; what it makes from now on is made of them."""
    assert all(hasattr(type(workbench), part) or part in vars(workbench) for part in parts)
    other = copy.copy(workbench)
    vars(other).update(parts)
    return other
