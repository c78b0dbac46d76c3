"""The parts of the workbench that are about models."""

from functools import partial

from app.late import late, late_part
from app.store.folder.folder import DataFolder

with late():
    import app.llm.attachments.provider_files
    import app.llm.directory
    import app.llm.providers.catalog
    import app.llm.providers.choices
    import app.llm.providers.doctor
    import app.llm.providers.last_seen
    import app.llm.providers.nearby
    import app.llm.providers.provider_desk
    import app.llm.providers.providers


class ModelParts:
    def __init__(self, data: DataFolder, *, demo_pace: float) -> None:
        self.data = data
        self.artifacts = data.artifacts
        self._pace = demo_pace
        data.sessions.on_delete.append(self._sweep_provider_files)

    @late_part
    def models(self) -> "app.llm.directory.ModelDirectory":
        read, ready = self.data.artifacts.get, self.data.provider_keys.ready
        return app.llm.directory.ModelDirectory(
            self.catalog,
            read,
            keys=self.lookup,
            ready=ready,
            seen=self.last_seen,
            files=self.provider_files,
            pace=self._pace,
        )

    @late_part
    def provider_files(self) -> "app.llm.attachments.provider_files.ProviderFiles":
        """What providers keep of files; ends what goes on of it by `close`."""
        kept = self.data.kept_provider_files
        return app.llm.attachments.provider_files.ProviderFiles(kept, self.lookup, self.data.has_session)

    @late_part
    def catalog(self) -> "app.llm.providers.catalog.Catalog":
        return app.llm.providers.catalog.Catalog()

    @late_part
    def lookup(self) -> "app.llm.providers.providers.Keys":
        return app.llm.providers.providers.lookup(self.data.provider_keys.get, self.data.providers.field)

    @late_part
    def last_seen(self) -> "app.llm.providers.last_seen.LastSeen":
        """What was last seen of each provider."""
        return app.llm.providers.last_seen.LastSeen(self.lookup)

    @late_part
    def choices(self) -> "app.llm.providers.choices.Choices":
        return app.llm.providers.choices.Choices(
            self.catalog, self.lookup, self.data.providers.all, self.data.provider_keys.ready, self.last_seen
        )

    @late_part
    def provider_desk(self) -> "app.llm.providers.provider_desk.ProviderDesk":
        """What is set for each provider, and the ways to change it."""
        stores = (self.data.providers, self.data.provider_keys)
        desk = app.llm.providers.provider_desk.ProviderDesk(*stores, self.lookup, self.last_seen)
        desk.on_key_gone = self._forget_files
        return desk

    @late_part
    def nearby(self) -> "app.llm.providers.nearby.Nearby":
        """Looks for servers of models on this machine when somebody wants it to."""
        return app.llm.providers.nearby.Nearby(self.provider_desk, self.lookup)

    @late_part
    def doctor(self) -> "app.llm.providers.doctor.Doctor":
        """Finds out why a provider does not work."""
        asked = partial(self.models.open, by="the doctor")
        return app.llm.providers.doctor.Doctor(self.lookup, asked, self.data.provider_keys.ready, self.last_seen)

    def _sweep_provider_files(self) -> None:
        """A session was deleted: so is what providers kept for it alone."""
        if self.data.kept_provider_files.all():
            self.provider_files.sweep_soon()

    async def _forget_files(self, provider: str) -> None:
        """Its key is about to go: afterwards nobody could delete what it keeps."""
        if self.data.kept_provider_files.all():
            await self.provider_files.remove(provider)
