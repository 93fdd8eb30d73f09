"""API and page routes: methods marked with a decorator become FastAPI routes.

Write the routes of an app as methods of a class and turn an instance into a router:

    class LadderApi:
        @get("/players", summary="List the players")
        async def list_players(self, caller: CurrentCaller) -> tuple[Player, ...]:
            return await self._ladder.list_players(caller)

    router = build_router(LadderApi(ladder), "/api/ladder")

A route returns a frozen dataclass, a model, or a Response. JSON names are those of the fields, or
camelCase with `names="camel"`. Request bodies are StrictModels and are validated as JSON.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    get_origin,
    get_type_hints,
)
from urllib.parse import parse_qsl, quote

import msgspec
from fastapi import APIRouter, Depends
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, compile_path
from starlette.types import Message, Receive, Scope, Send

from grandstand.core.errors import GrandstandError, NotAllowed, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.credentials import CSRF_FIELD, CSRF_HEADER, refuses_form
from grandstand.kit.auth.host_policy import SAFE_METHODS
from grandstand.kit.problems import (
    COMMON_ERRORS,
    BodyTimeout,
    NotSignedIn,
    RequestTooLarge,
    problem_responses,
)

Access: TypeAlias = Literal["user", "admin", "anyone"]
JsonNames: TypeAlias = Literal["snake", "camel"]
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])

SIGN_IN: Final = "/login"
SECURITY: Final[list[dict[str, list[str]]]] = [{"session": []}, {"key": []}, {"token": []}]
_ROUTE_ATTRIBUTE: Final = "__grandstand_route__"
_JSON: Final = "application/json"
_MSGSPEC_REF: Final = "#/components/schemas/{name}"


class FormRefused(NotAllowed):
    """The request lacks a valid CSRF token."""

    code = "form-refused"


class StrictModel(BaseModel):
    """A request or response model: frozen, strictly typed, without unknown fields.

    Strict in the sense of JSON: a time is read from its text and a tuple from a list, but a number
    is never read from a text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class CamelModel(StrictModel):
    """A StrictModel whose JSON names are in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    """The declaration of a route.

    `answers` is the type behind a bare Response, `also` lists further success statuses with their
    descriptions, and `form` is the content type.
    """

    method: str
    path: str
    summary: str
    problems: tuple[type[GrandstandError], ...] = ()
    access: Access = "user"
    example: Any = None
    answers: Any = None
    status: int = 200
    html: bool = False
    also: Mapping[int, str] = field(default_factory=dict)
    form: str = _JSON


def _mark(spec: RouteSpec) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        specs = (*getattr(function, _ROUTE_ATTRIBUTE, ()), spec)
        setattr(function, _ROUTE_ATTRIBUTE, specs)
        return function

    return decorate


def _decorator(method: str, status: int = 200) -> Callable[..., Callable[[F], F]]:
    def route(path: str, *, summary: str, status: int = status, **options: Any) -> Callable[[F], F]:  # noqa: ANN401 - the fields of RouteSpec
        return _mark(RouteSpec(method=method, path=path, summary=summary, status=status, **options))

    route.__doc__ = f"Mark a method as a {method} route, with the options of a RouteSpec."
    return route


get = _decorator("GET")
post = _decorator("POST")
put = _decorator("PUT")
patch = _decorator("PATCH")
delete = _decorator("DELETE", 204)


def page(
    path: str, *, access: Access = "user", method: Literal["GET", "POST"] = "GET"
) -> Callable[[F], F]:
    """Mark a method as a page, or as the handler of a page's form; it returns a Response.

    A browser that is not signed in is redirected to the sign-in page and back.
    """
    return _mark(RouteSpec(method=method, path=path, summary="", access=access, html=True))


def build_router(routes: object, prefix: str, *, names: JsonNames = "snake") -> APIRouter:
    """Return a router with the marked methods of an object, in the order they are written."""
    router = APIRouter(prefix=prefix, route_class=AppRoute)
    tag = prefix.rpartition("/")[2] or "platform"
    attributes = [name for cls in reversed(type(routes).__mro__) for name in vars(cls)]
    for name in dict.fromkeys(attributes):
        method = inspect.getattr_static(type(routes), name)
        for spec in getattr(method, _ROUTE_ATTRIBUTE, ()):
            handler = _Handler(getattr(routes, name), spec, names)
            router.add_api_route(
                spec.path,
                handler,
                methods=[spec.method],
                name=f"{tag}.{name}",
                operation_id=f"{tag}_{spec.method.lower()}_{name}",
                summary=spec.summary,
                tags=[tag],
                status_code=spec.status,
                responses=_responses(spec, method),
                include_in_schema=not spec.html,
                openapi_extra=None if spec.access == "anyone" else {"security": SECURITY},
                response_model=None,
            )
    return router


def _responses(spec: RouteSpec, method: Callable[..., Any]) -> dict[int | str, dict[str, Any]]:
    """Return the documented responses of a route; JSON schemas are added by `add_schemas`."""
    if spec.html:
        return {}
    errors = [*COMMON_ERRORS, *spec.problems]
    if "{" in spec.path:
        errors.append(NotFound)
    if spec.method not in SAFE_METHODS:
        errors += [BodyTimeout, RequestTooLarge]
    description = (inspect.getdoc(method) or spec.summary).splitlines()[0]
    content = _documented_content(spec)
    successes = {spec.status: description, **spec.also}
    return {
        status: {"description": text} | content for status, text in successes.items()
    } | problem_responses(errors)


def _documented_content(spec: RouteSpec) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if spec.form != _JSON:
        content["schema"] = {"type": "string"}
    if spec.answers is not None:
        (content["schema"],), _ = msgspec.json.schema_components(
            [spec.answers], ref_template=_MSGSPEC_REF
        )
    if spec.example is not None:
        content["example"] = spec.example
    return {"content": {spec.form: content}} if content else {}


def add_schemas(document: dict[str, Any], routes: Iterable[BaseRoute]) -> None:
    """Add the request and response schemas of all routes to an OpenAPI document."""
    handlers = [
        (route, route.endpoint)
        for route in routes
        if isinstance(route, AppRoute)
        and isinstance(route.endpoint, _Handler)
        and not route.endpoint.spec.html
    ]
    inputs: list[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]] = []
    for route, handler in handlers:
        if handler.body is not None:
            inputs.append((f"{route.name} body", "validation", handler.body.adapter))
        if handler.response is not None:
            inputs.append((f"{route.name} response", "serialization", handler.response))
    schemas, definitions = TypeAdapter.json_schemas(
        inputs, ref_template="#/components/schemas/{model}"
    )
    typed = [handler.spec.answers for _, handler in handlers if handler.spec.answers is not None]
    _, components = msgspec.json.schema_components(typed, ref_template=_MSGSPEC_REF)
    document["components"]["schemas"].update(components | definitions.get("$defs", {}))
    for route, handler in handlers:
        operation = document["paths"][route.path_format][handler.spec.method.lower()]
        if handler.body is not None:
            schema = schemas[f"{route.name} body", "validation"]
            operation["requestBody"] = {
                "required": handler.body.required,
                "content": {_JSON: {"schema": schema}},
            }
        if handler.response is not None:
            schema = schemas[f"{route.name} response", "serialization"]
            if handler.names == "camel" and "anyOf" in schema:
                schema = schema["anyOf"][0]
            for status in (handler.spec.status, *handler.spec.also):
                content = operation["responses"][str(status)].setdefault("content", {})
                entry = content.setdefault(handler.spec.form, {})
                entry["schema"] = entry.get("schema") or schema


@dataclass(frozen=True, slots=True)
class _Body:
    """The JSON body of a route: the parameter it is passed as, and its type."""

    name: str
    adapter: TypeAdapter[Any]
    required: bool

    async def read(self, request: Request) -> Any:  # noqa: ANN401 - the declared type
        """Return the validated body; raise RequestValidationError."""
        content = await request.body()
        if not content and not self.required:
            return None
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != _JSON and not content_type.endswith("+json"):
            message = f"Send a JSON body with Content-Type {_JSON}"
            raise RequestValidationError([{"type": "json", "loc": ("body",), "msg": message}])
        try:
            return self._validate(content)
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False, include_context=False, include_input=False)
            raise RequestValidationError(
                [{**error, "loc": ("body", *error["loc"])} for error in errors]
            ) from None

    def _validate(self, content: bytes) -> Any:  # noqa: ANN401 - the declared type
        try:
            return self.adapter.validate_json(content)
        except ValidationError as invalid:
            if invalid.errors()[0]["type"] != "json_invalid":
                raise
            # Half a surrogate pair is JSON but not Unicode: the Python validator names the field.
            try:
                value = json.loads(content)
            except ValueError:
                raise invalid from None
            return self.adapter.validate_python(value)


class _Handler:
    """Calls a route's method: fills in the caller and the body, and encodes the result.

    FastAPI reads only path and query parameters. It has no public way to validate a body as JSON,
    and resolving the caller as a dependency takes 25 µs, a quarter of a small request.
    """

    def __init__(self, method: Callable[..., Any], spec: RouteSpec, names: JsonNames) -> None:
        self.method = method
        self.spec = spec
        self.names: JsonNames = names
        functools.update_wrapper(self, method)

    @functools.cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.method, include_extras=True)

    @functools.cached_property
    def _callers(self) -> dict[str, Callable[[Scope], Caller | None]]:
        return {name: _CALLERS[kind] for name, kind in self._types.items() if kind in _CALLERS}

    @functools.cached_property
    def _request(self) -> str | None:
        return next((name for name, kind in self._types.items() if kind is Request), None)

    @functools.cached_property
    def _response_name(self) -> str | None:
        """The parameter through which a method sets a status or headers, as in FastAPI."""
        parameters = inspect.signature(self.method).parameters
        return next((name for name in parameters if self._types.get(name) is Response), None)

    @functools.cached_property
    def body(self) -> _Body | None:
        """The JSON body, if the method has a parameter for one."""
        if self.spec.method in SAFE_METHODS or self.spec.html:
            return None
        for parameter in inspect.signature(self.method).parameters.values():
            kind = self._types[parameter.name]
            if _is_model(kind):
                required = parameter.default is inspect.Parameter.empty
                return _Body(parameter.name, TypeAdapter(kind), required)
        return None

    @functools.cached_property
    def response(self) -> TypeAdapter[Any] | None:
        """The type of the result; None if the method returns a Response or nothing."""
        kind = self._types.get("return")
        if kind is None or kind is type(None) or self.spec.html or self.spec.answers is not None:
            return None
        if inspect.isclass(kind) and issubclass(kind, Response):
            return None
        if self.names == "snake" or (inspect.isclass(kind) and issubclass(kind, BaseModel)):
            return TypeAdapter(kind)
        # Pydantic passes a config on to the dataclasses inside a type, but takes none for a
        # dataclass itself.
        return TypeAdapter(kind | None, config=ConfigDict(alias_generator=to_camel))

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        """What FastAPI sees: path and query parameters, and the request."""
        body = None if self.body is None else self.body.name
        own = {*self._callers, self._request, self._response_name, body}
        parameters = [
            parameter.replace(
                kind=inspect.Parameter.KEYWORD_ONLY,
                annotation=self._types.get(parameter.name, parameter.annotation),
            )
            for parameter in inspect.signature(self.method).parameters.values()
            if parameter.name not in own
        ]
        request = inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        return inspect.Signature([*parameters, request])

    async def __call__(self, **values: Any) -> Response:  # noqa: ANN401 - the method's own types
        request: Request = values.pop(_REQUEST)
        for name, resolve in self._callers.items():
            values[name] = resolve(request.scope)
        if self._request is not None:
            values[self._request] = request
        if self.body is not None:
            values[self.body.name] = await self.body.read(request)
        response = Response(status_code=self.spec.status)
        if self._response_name is not None:
            values[self._response_name] = response
        result = await self.method(**values)
        if isinstance(result, Response):
            return result
        if self.response is None:
            return response
        content = self.response.dump_json(result, by_alias=True)
        encoded = Response(content, response.status_code, media_type=_JSON)
        if self._response_name is not None:
            encoded.raw_headers += [
                header for header in response.raw_headers if header[0] != b"content-length"
            ]
        return encoded


_REQUEST: Final = "http_request"


def _is_model(kind: Any) -> bool:  # noqa: ANN401 - any annotation
    if get_origin(kind) is not None:
        return any(_is_model(part) for part in kind.__args__)
    return inspect.isclass(kind) and (
        issubclass(kind, BaseModel) or (dataclasses.is_dataclass(kind) and kind is not Caller)
    )


class AppRoute(APIRoute):
    """A route that checks the caller and refuses unknown query parameters.

    FastAPI's own set-up runs with the first request: for 300 routes it took a quarter of the
    start.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own
        self.path, self.endpoint, self.name = path, endpoint, options["name"]
        self.methods = {*options["methods"]}
        self.include_in_schema = options["include_in_schema"]
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._options = options

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of an APIRoute
        options = self.__dict__.pop("_options", None)
        if options is None:
            raise AttributeError(name)
        super().__init__(self.path, self.endpoint, **options)
        return getattr(self, name)

    @property
    def spec(self) -> RouteSpec:
        """The declaration of the method behind this route."""
        return cast("_Handler", self.endpoint).spec

    @functools.cached_property
    def _query_names(self) -> frozenset[str]:
        return frozenset(_collect_query_names(self.dependant))

    @functools.cached_property
    def _encoded_query_names(self) -> frozenset[bytes]:
        return frozenset(name.encode() for name in self._query_names)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request after checking caller, query and CSRF token."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        spec = self.spec
        if spec.access != "anyone":
            if spec.html and _needs_sign_in(scope):
                await _redirect_to_sign_in(scope)(scope, receive, send)
                return
            caller = _require_caller(scope)
            if spec.access == "admin":
                _require_admin(caller)
        if scope["query_string"] and not spec.html:
            self._refuse_unknown_query(scope["query_string"])
        if spec.method not in SAFE_METHODS:
            receive = await _check_csrf(scope, receive, form=spec.html)
        await self.app(scope, receive, send)

    def _refuse_unknown_query(self, query: bytes) -> None:
        names = [part.partition(b"=")[0] for part in query.split(b"&")]
        if all(name in self._encoded_query_names for name in names):
            return
        given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        unknown = [name for name, _ in given if name not in self._query_names]
        if unknown:
            errors = []
            for name in unknown:
                near = difflib.get_close_matches(name, self._query_names, n=1)
                message = f"Unknown parameter{f'; did you mean {near[0]}?' if near else ''}"
                loc = ("query", name[:100])
                errors.append({"type": "extra_forbidden", "loc": loc, "msg": message})
            raise RequestValidationError(errors)


def _collect_query_names(dependant: Any) -> list[str]:  # noqa: ANN401 - FastAPI's own
    names = [param.alias for param in dependant.query_params]
    for inner in dependant.dependencies:
        names.extend(_collect_query_names(inner))
    return names


def _find_caller(scope: Scope) -> Caller | None:
    caller = scope.get("state", {}).get("caller")
    return caller if isinstance(caller, Caller) else None


def _require_caller(scope: Scope) -> Caller:
    caller = _find_caller(scope)
    if caller is None:
        raise NotSignedIn("Sign in first, or send an API key or a token")
    return caller


def _require_admin(caller: Caller) -> Caller:
    if not caller.admin:
        raise NotAllowed("Only an administrator may do this")
    return caller


def _refuse_bare_number(value: object) -> object:
    try:
        float(str(value))
    except ValueError:
        return value
    raise ValueError("write the time out, as in 2026-11-16T12:00:00Z or 2026-11-16")


# Pydantic would take a bare number for seconds since 1970.
WRITTEN: Final = BeforeValidator(_refuse_bare_number)
CurrentCaller = Annotated[Caller, Depends(_require_caller)]
OptionalCaller = Annotated[Caller | None, Depends(_find_caller)]
AdminCaller = Annotated[Caller, Depends(_require_admin)]
_CALLERS: Final[dict[Any, Callable[[Scope], Caller | None]]] = {
    CurrentCaller: _require_caller,
    OptionalCaller: _find_caller,
    AdminCaller: lambda scope: _require_admin(_require_caller(scope)),
}


async def _check_csrf(scope: Scope, receive: Receive, *, form: bool) -> Receive:
    """Raise FormRefused if a cookie identifies the caller and the CSRF token is missing or wrong.

    Returns where to read the body from.
    """
    caller, request = _find_caller(scope), Request(scope, receive)
    token = request.headers.get(CSRF_HEADER)
    if form and token is None and caller is not None and caller.via == "session":
        body = await request.body()
        receive = _replay_body(body)
        async with Request(scope, _replay_body(body)).form() as fields:
            value = fields.get(CSRF_FIELD)
        token = value if isinstance(value, str) else None
    refusal = refuses_form(scope["method"], caller, request.cookies, token)
    if refusal is not None:
        raise FormRefused(refusal.reason)
    return receive


def _replay_body(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _needs_sign_in(scope: Scope) -> bool:
    if scope["method"] not in SAFE_METHODS or _find_caller(scope) is not None:
        return False
    return "text/html" in HTTPConnection(scope).headers.get("accept", "")


def _redirect_to_sign_in(scope: Scope) -> Response:
    query = scope["query_string"].decode("latin-1")
    target = quote(scope["path"] + (f"?{query}" if query else ""), safe="/")
    return RedirectResponse(f"{SIGN_IN}?next={target}", status_code=303)


def json_response(value: Any, *, status: int = 200) -> Response:  # noqa: ANN401 - whatever msgspec takes
    """Return a msgspec-encoded JSON response, for hot reads."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def with_etag(request: Request, response: Response) -> Response:
    """Add an ETag, and respond 304 if the client has the content already."""
    digest = hashlib.blake2b(response.body, digest_size=12).hexdigest()
    tag = f'W/"{digest}"'
    cached = request.headers.get("if-none-match", "").split(",")
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if {"*", tag, tag.removeprefix("W/")} & {part.strip() for part in cached}:
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response
