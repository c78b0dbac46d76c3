"""Tools made from a form: each sends one HTTP request."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from app.domain.errors import Conflict, WorkbenchError
from app.domain.tool_settings import HttpTool
from app.domain.tools import CallContext, ToolOutput, ToolSpec, canonical_name
from app.tools.http.answer import answered
from app.tools.http.net_guard import Guard, Resolver, host_of, system_resolver
from app.tools.http.request import Secrets, checked_arguments, parameters, request
from app.tools.http.tool_rules import validate
from app.tools.http.web import fetch
from app.tools.ports import RunnableTool

if TYPE_CHECKING:
    from app.tools.http.secret_refs import SecretRefs


class HttpTools(Protocol):
    """Where the forms are kept; see `store.records.tables`."""

    def all(self) -> list[HttpTool]: ...

    async def create(self, tool: HttpTool) -> HttpTool: ...

    async def save(self, tool: HttpTool) -> HttpTool: ...

    async def delete(self, name: str) -> None: ...


class RequestTool:
    """A tool that sends the request of a form."""

    def __init__(
        self,
        form: HttpTool,
        environment: Callable[[], Mapping[str, str]],
        resolve: Resolver,
        refs: "Callable[[], SecretRefs]",
    ) -> None:
        self._refs = refs
        self._form = form
        self._environment = environment
        self._resolve = resolve
        self.spec = _spec(form)
        self.label = f"{host_of(form.address)} › {self.spec.name}"

    async def run(self, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
        filled = checked_arguments(self._form, arguments)
        refs = self._refs()
        await refs.ready()
        secrets = Secrets({**self._environment(), **refs.variables()})
        sent = request(self._form, filled, secrets)
        received = await fetch(sent, self._guard())
        return await answered(secrets.removed(received), context)

    def _guard(self) -> Guard:
        host = host_of(self._form.address)
        private = frozenset((host,)) if self._form.allow_private else frozenset[str]()
        way_out = f"Change the address under Tools → {self._form.name}."
        return Guard(hosts=(host,), way_out=way_out, private_hosts=private, resolve=self._resolve)


class HttpToolSource:
    """The source of all tools made from forms."""

    title = "HTTP tools"

    def __init__(
        self,
        store: HttpTools,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        *,
        resolve: Resolver = system_resolver,
        refs: "Callable[[], SecretRefs]",
    ) -> None:
        """`environment` holds what `$NAME` in a header stands for; it is looked at for each request. `refs` keeps
        the secrets of headers where keys are kept.
        """
        self._refs = refs
        self._store = store
        self._environment = environment
        self._resolve = resolve
        self._tools: dict[str, RequestTool] | None = None
        self.revision = 0
        self._problems: dict[str, str] = {}

    def forms(self) -> list[HttpTool]:
        """Every form, by name."""
        return self._store.all()

    @property
    def problems(self) -> Mapping[str, str]:
        """By name: what is wrong with a stored form, or that it waits to be allowed, which is then no tool."""
        self.tools()
        return self._problems

    def tools(self) -> Mapping[str, RunnableTool]:
        if (known := self._tools) is not None:
            return known
        revision, made = self.revision, {tool.spec.name: tool for tool in self._made(self._store.all())}
        if revision == self.revision:  # else they changed meanwhile, and this is another thread
            self._tools = made
        return made

    async def create(self, form: HttpTool) -> None:
        """Add a tool. Raises `WorkbenchError` for a form with a mistake, `Conflict` where the name is taken."""
        self._check(form)
        if self._written(form.name):
            raise Conflict(f"There is an HTTP tool {form.name!r} already. Choose another name.")
        refs = self._refs()
        sealed = await refs.form(form)
        async with refs.storing(sealed, given=form):
            await self._store.create(sealed)
        self._changed()

    async def receive(self, form: HttpTool) -> None:
        """Keep a form that somebody posted until its owner saves it. Raises like `create`.

        It names no secret that is kept for another form: whoever may delete it would delete that too.
        """
        if self._refs().names_kept(form.model_dump_json()):
            raise WorkbenchError("A header cannot name a secret that is kept here. Send the secret, or $NAME for one.")
        await self.create(form.model_copy(update={"waits": True}))

    async def save(self, form: HttpTool, *, seen: HttpTool | None = None) -> None:
        """Store the tool, new or over the one of that name. Raises like `create`, but for the very same name.

        Also `Conflict` where it is not the one any more that was `seen`.
        """
        self._check(form)
        refs = self._refs()
        sealed = await refs.form(form)
        async with refs.storing(sealed, given=form):
            self._check(form)
            before = self._written(form.name)
            if seen is not None and before != seen.model_dump_json():
                raise Conflict(f"{form.name} was changed or deleted meanwhile. Open it again.")
            await self._store.save(sealed)
        self._changed()
        await refs.forget(before, sealed.model_dump_json())

    async def delete(self, name: str) -> HttpTool | None:
        """Delete the tool and its secrets; `None` where there is none.

        What it gives holds the secrets: it may be created again, and is never shown.
        """
        stored, refs = self._stored(name), self._refs()
        if stored is None:
            return None
        await refs.ready()
        whole = refs.with_secrets(stored)
        await self._store.delete(name)
        self._changed()
        await refs.forget(stored.model_dump_json())
        return whole

    async def seal(self) -> bool:
        """Keep where keys are kept what an earlier version stored in plaintext; whether there was something.

        Each key is stored before its form forgets it; where that cannot be for good, or would break
        it, the form stays as it is. Raises `StorageError`.
        """
        sealed = False
        for form in self._store.all():
            refs = self._refs().of_stored(f"the HTTP tool {form.name}")
            after = await refs.form(form)
            if after == form:
                continue
            if form in self._store.all():  # else somebody changed it meanwhile
                await self._store.save(after)
                self._changed()
                sealed = True
            await refs.forget(after.model_dump_json(), self._written(form.name))
        return sealed

    def hold(self) -> Callable[[], None]:
        """Nothing of it ends: a request tool is a value."""
        return lambda: None

    async def close(self) -> None:
        """There is nothing to end."""

    def _stored(self, name: str) -> HttpTool | None:
        return next((form for form in self._store.all() if form.name == name), None)

    def _written(self, name: str) -> str:
        """The form of that name as JSON, empty where there is none."""
        stored = self._stored(name)
        return stored.model_dump_json() if stored else ""

    def _check(self, form: HttpTool) -> None:
        validate(form)
        for other in self._store.all():
            if other.name != form.name and canonical_name(other.name) == canonical_name(form.name):
                raise Conflict(f"{form.name!r} means the same as {other.name!r}, which is there already. Rename it.")

    def _changed(self) -> None:
        self.revision += 1
        self._tools = None

    def _made(self, forms: Iterable[HttpTool]) -> Iterable[RequestTool]:
        self._problems.clear()
        for form in forms:
            try:
                _check_is_allowed(form)
                validate(form)
            except WorkbenchError as error:
                self._problems[form.name] = str(error)
            else:
                yield RequestTool(form, self._environment, self._resolve, self._refs)


def _check_is_allowed(form: HttpTool) -> None:
    if form.waits:
        raise WorkbenchError("It was posted and waits for you: see what it sends where, then allow it on its page.")


def _spec(form: HttpTool) -> ToolSpec:
    name = canonical_name(form.name)
    kit, _, action = name.rpartition("__")
    return ToolSpec(
        name=name,
        description=form.description,
        parameters=parameters(form),
        title=action.replace("_", " ").capitalize(),
        icon="http",
        kit=kit,
        idempotent=form.method in ("GET", "PUT", "DELETE"),
        side_effects=form.method != "GET",
    )
