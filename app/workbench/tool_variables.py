"""What tools read of the environment."""

import os

from app.store.folder.folder import DataFolder


def tool_variables(data: DataFolder) -> dict[str, str]:
    """The environment, and the keys for searching the web that were saved where it has none."""
    saved = {f"{name.upper()}_API_KEY": data.provider_keys.get(f"{name}:key") for name in ("brave", "tavily")}
    return saved | dict(os.environ)
