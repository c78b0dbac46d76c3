"""What a person has set for the whole app."""

from typing import Literal

from app.domain.values import Value

Theme = Literal["light", "dark", "system"]


class Preferences(Value):
    theme: Theme = "system"
    day_cost: float = 10.0
    """US dollars that all runs of a day may cost together."""
