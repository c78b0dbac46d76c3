"""The arguments of a function: their JSON Schema, and the check of what a model sent for them."""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence

from pydantic import ConfigDict, JsonValue, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, ErrorDetails

from app.domain.errors import InvalidArguments, WorkbenchError
from app.domain.tools import CallContext, JsonSchema
from app.tools.function.authoring import Context
from app.tools.function.schema import QuietSchema, expectation, tidy

Parameters = Mapping[str, inspect.Parameter]
MOST_LINES = 12
LAX = ConfigDict(coerce_numbers_to_str=True, hide_input_in_errors=True)


class InvalidTool(WorkbenchError):
    """No tool can be made of the function; the message names it and what is in the way."""


class Arguments:
    """What a function takes, apart from the context of the call."""

    def __init__(self, function: Callable[..., object], descriptions: Mapping[str, str]) -> None:
        """Raises `InvalidTool` when the signature says too little, or more than JSON can carry."""
        self._function = function.__name__
        parameters = _parameters(function)
        self.context_name = next((name for name, one in parameters.items() if _is_context(one.annotation)), None)
        self.names = tuple(name for name in parameters if name != self.context_name)
        taken = {name: parameters[name] for name in self.names}
        self._adapter = _adapter(self._function, taken)
        self.schema = _schema(self._function, self._adapter, taken, descriptions)

    def checked(self, arguments: Mapping[str, JsonValue]) -> dict[str, object]:
        """The arguments as the function wants them, defaults filled in.

        A value of a neighbouring type is taken where nothing is lost: "5" for a number, 5 for a text.
        Raises `InvalidArguments`, which names each argument that is wrong, missing or unknown.
        """
        try:
            return self._adapter.validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            raise InvalidArguments(self._complaint(error, arguments)) from None

    def _complaint(self, error: ValidationError, arguments: Mapping[str, JsonValue]) -> str:
        """One line for each argument that does not fit, or for each place in it."""
        wrong: dict[str, list[ErrorDetails]] = {}
        for detail in error.errors(include_url=False, include_context=False):
            wrong.setdefault(str(detail["loc"][0]), []).append(detail)
        lines = [line for name, details in wrong.items() for line in self._lines(name, details, arguments.get(name))]
        return complaint(self._function, lines)

    def _lines(self, name: str, details: list[ErrorDetails], given: JsonValue) -> list[str]:
        match details[0]["type"]:
            case "unexpected_keyword_argument":
                return [f"{name}: unknown, {self._function} takes {', '.join(self.names) or 'no arguments'}"]
            case "missing_keyword_only_argument":
                return [f"{name}: missing, expected {self._expected(name)}"]
        if len(details) > 1 and all(detail["input"] == given for detail in details):
            return [f"{name}: got {shown(given)}, expected {self._expected(name)}"]
        return [f"{_place(detail)}: got {shown(detail['input'])}. {detail['msg']}" for detail in details]

    def _expected(self, name: str) -> str:
        properties = self.schema.get("properties")
        return expectation(properties.get(name) if isinstance(properties, dict) else None)


def _parameters(function: Callable[..., object]) -> Parameters:
    """The function's parameters with their annotations looked up."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise InvalidTool(f"The annotations of {function.__name__} cannot be looked up: {error}.") from error
    found = inspect.signature(function).parameters
    return {name: _parameter(function.__name__, one, hints) for name, one in found.items()}


def _parameter(function: str, parameter: inspect.Parameter, hints: Mapping[str, object]) -> inspect.Parameter:
    name = parameter.name
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
        raise InvalidTool(f"{function} takes {parameter}: a model must be told each argument. Name them one by one.")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise InvalidTool(f"The parameter {name!r} of {function} is positional-only. Remove the '/' behind it.")
    if name not in hints:
        raise InvalidTool(f"The parameter {name!r} of {function} has no type. Write for example '{name}: str'.")
    return parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])


def _is_context(annotation: object) -> bool:
    """Whether it is a call's context: of a built-in tool, or of a tool file, which may write `Context | None`."""
    return any(one in (CallContext, Context) for one in (annotation, *typing.get_args(annotation)))


def _adapter(function: str, parameters: Parameters) -> TypeAdapter[dict[str, object]]:
    """A validator of keyword arguments: pydantic reads the signature of a function that hands them back."""

    def arguments(**given: object) -> dict[str, object]:
        return given

    setattr(arguments, "__signature__", inspect.Signature(list(parameters.values())))  # noqa: B010  mypy knows no such attribute
    arguments.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    arguments.__name__ = function
    try:
        return TypeAdapter(arguments, config=LAX)  # type: ignore[arg-type]  # a function's adapter returns what it returns
    except PydanticUserError as error:
        raise _unfit(function, parameters, error) from error


def _schema(
    function: str,
    adapter: TypeAdapter[dict[str, object]],
    parameters: Parameters,
    descriptions: Mapping[str, str],
) -> JsonSchema:
    try:
        schema: JsonSchema = adapter.json_schema(schema_generator=QuietSchema)
    except PydanticUserError as error:
        raise _unfit(function, parameters, error) from error
    properties = schema.get("properties")
    for name, description in descriptions.items():
        described = properties.get(name) if isinstance(properties, dict) else None
        if isinstance(described, dict):
            described.setdefault("description", description)
    return tidy(schema)


def _unfit(function: str, parameters: Parameters, error: PydanticUserError) -> InvalidTool:
    """Name the first parameter whose type is the reason."""
    for name, parameter in parameters.items():
        try:
            TypeAdapter(parameter.annotation).json_schema(schema_generator=QuietSchema)
        except PydanticUserError:
            shown = inspect.formatannotation(parameter.annotation)
            return InvalidTool(f"The parameter {name!r} of {function} is of type {shown}, which JSON cannot carry.")
    return InvalidTool(f"No JSON Schema can be made of the arguments of {function}: {error.message}")


def _place(detail: ErrorDetails) -> str:
    return ".".join(str(step) for step in detail["loc"])


def complaint(name: str, lines: Sequence[str]) -> str:
    """What a model is told that called the tool with arguments that do not fit; a line for each of them."""
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]
    return f"The arguments of {name} do not fit:\n" + "\n".join(f"- {line}" for line in lines)


def shown(value: object) -> str:
    """A value as such a line quotes it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
