"""How a run's tools have changed since it began: of interest where it goes on later."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.events import RunStarted
from app.domain.tools import FIND_TOOLS
from app.engine.ports import Toolbox


@dataclass(frozen=True)
class ToolsSince:
    gone: Mapping[str, str] = field(default_factory=dict)
    """By name: that it is not there any more, in words."""
    changed: Mapping[str, str] = field(default_factory=dict)
    """By name: the digest of its spec as it is now."""

    @classmethod
    def of(cls, started: RunStarted, toolbox: Toolbox) -> "ToolsSince":
        """What has become of the run's tools."""
        gone: dict[str, str] = {}
        changed: dict[str, str] = {}
        for tool in started.tools:
            if (name := tool.spec.name) == FIND_TOOLS:  # it is told what there is to be found in each run
                continue
            specs = toolbox.specs((name,))
            if not specs:
                gone[name] = f"The tool {name!r} is not available any more: it was removed or turned off."
            elif specs[0].digest != tool.spec.digest:
                changed[name] = specs[0].digest
        return cls(gone, changed)

    def about(self, name: str) -> str:
        """What has become of the tool in words; empty where it is as it was."""
        if name in self.changed:
            return f"The tool {name!r} has changed since; it is called as it is now."
        return self.gone.get(name, "")

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each."""
        return tuple(self.about(name) for name in (*self.gone, *self.changed))
