"""Which tools are on, and what models are told of them."""

from app.domain.tool_settings import ToolSetting
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents


class ToolSettingStore:
    def __init__(self, database: JournalDB) -> None:
        self._documents = Documents(database, "tool_settings", ToolSetting, noun="tool setting")
        self.revision = 0
        """Goes up with every change."""

    def get(self, name: str) -> ToolSetting:
        """What was decided about the tool of that name."""
        return self._documents.get(name) if self._documents.stored(name) is not None else ToolSetting()

    async def save(self, name: str, setting: ToolSetting) -> None:
        await self._documents.save(name, setting)
        self.revision += 1
