"""Kept here: marked methods as routes, and what every route does first."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Final, get_type_hints
from urllib.parse import parse_qsl, quote

import msgspec
from fastapi import APIRouter, Depends
from fastapi.datastructures import Default
from fastapi.exceptions import RequestValidationError
from fastapi.params import Body
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import Message, Receive, Scope, Send

from grandstand.base.errors import NotAllowed
from grandstand.kit.answers import etagged, typed_bytes
from grandstand.kit.cursors import Cursors
from grandstand.kit.marks import (
    MARK,
    Access,
    Mark,
    delete,
    get,
    page,
    patch,
    post,
    put,
    responses_of,
)
from grandstand.kit.problems import NotSignedIn
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.csrf import CSRF_FIELD, CSRF_HEADER, refuses_form
from grandstand.kit.who.policy import SAFE_METHODS

__all__ = [
    "WRITTEN",
    "Access",
    "Admin",
    "Cursors",
    "MarkedRoute",
    "MaybeWho",
    "Strict",
    "Who",
    "delete",
    "etagged",
    "get",
    "page",
    "patch",
    "post",
    "put",
    "router_of",
    "typed_bytes",
]


class FormRefused(NotAllowed):
    """The request does not prove that a page of this house sent it."""


SIGN_IN: Final = "/login"
_SEE_OTHER: Final = 303


class Strict(BaseModel):
    """A request's or answer's model: frozen, of exact types, and without unknown fields.

    The types are those JSON has: a moment is taken from its text, a tuple from a list, but a
    number never from a text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class _FromJson:
    """Validates a body as the JSON it was, where strictness means JSON's types, not Python's."""

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._adapter = adapter
        with warnings.catch_warnings():
            # FastAPI gives adapters a field's name, of which they have no use.
            warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
            adapter.rebuild()

    def validate_python(self, value: object, **options: Any) -> object:  # noqa: ANN401 - pydantic's own
        try:
            text = msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError):
            return self._adapter.validate_python(value, **options)
        return self._adapter.validate_json(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the adapter has
        return getattr(self._adapter, name)


async def _who(connection: HTTPConnection) -> Caller:
    return _demanded(connection.scope)


async def _maybe_who(connection: HTTPConnection) -> Caller | None:
    return _caller(connection.scope)


async def _admin(connection: HTTPConnection) -> Caller:
    return _administrator(_demanded(connection.scope))


def _written(value: object) -> object:
    try:
        float(str(value))
    except ValueError:
        return value
    raise ValueError("a time is written out, as in 2026-11-16T12:00:00Z or 2026-11-16")


# Without this a bare number is taken for seconds since 1970.
WRITTEN: Final = BeforeValidator(_written)
Who = Annotated[Caller, Depends(_who)]
MaybeWho = Annotated[Caller | None, Depends(_maybe_who)]
Admin = Annotated[Caller, Depends(_admin)]


def _caller(scope: Scope) -> Caller | None:
    found = scope.get("state", {}).get("caller")
    return found if isinstance(found, Caller) else None


def _demanded(scope: Scope) -> Caller:
    caller = _caller(scope)
    if caller is None:
        raise NotSignedIn("Sign in first, or send an API key or a token")
    return caller


def _administrator(caller: Caller) -> Caller:
    if not caller.admin:
        raise NotAllowed("Only an administrator may do this")
    return caller


class MarkedRoute(APIRoute):
    """A route that asks who calls, and refuses unknown query parameters, before all else.

    It knows where it leads; how its method is called it learns when it is first gone: a quarter
    of the time a house of 300 routes took to start went into what most days nobody asks for.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own
        self.path, self.endpoint, self.name = path, endpoint, options["name"]
        self.methods = {*options["methods"]}
        self.include_in_schema = options["include_in_schema"]
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._unread = options

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever FastAPI keeps of a route
        options = self.__dict__.pop("_unread", None)
        if options is None:
            raise AttributeError(name)
        super().__init__(self.path, _short(self.endpoint), **options)
        for field in self.dependant.body_params:
            if type(field.field_info) is Body:
                field._type_adapter = _FromJson(field._type_adapter)  # type: ignore[assignment]  # noqa: SLF001 - FastAPI has no other door
        return getattr(self, name)

    @functools.cached_property
    def mark(self) -> Mark:
        """What the method behind this route was marked with."""
        marks: tuple[Mark, ...] = getattr(self.endpoint, MARK)
        return next(m for m in marks if m.method in (self.methods or ()) and self._is(m))

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(_query_names(self.dependant))

    @functools.cached_property
    def _plain(self) -> frozenset[bytes]:
        return frozenset(name.encode() for name in self._known)

    def _is(self, mark: Mark) -> bool:
        return self.path.endswith(mark.path)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through to the method, or raise why not."""
        if scope["method"] in (self.methods or ()):
            mark = self.mark
            if mark.access != "anyone":
                if mark.html and _led_to_sign_in(scope):
                    await _sign_in(scope)(scope, receive, send)
                    return
                caller = _demanded(scope)
                if mark.access == "admin":
                    _administrator(caller)
            if scope["query_string"] and not mark.html:
                self._refuse_unknown(scope["query_string"])
            if mark.method not in SAFE_METHODS:
                receive = await _proven(scope, receive, form=mark.html)
            await self.app(scope, receive, send)
            return
        await super().handle(scope, receive, send)

    def _refuse_unknown(self, query: bytes) -> None:
        plain = [part.partition(b"=")[0] for part in query.split(b"&")]
        if all(name in self._plain for name in plain):
            return
        given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        unknown = [name for name, _ in given if name not in self._known]
        if unknown:
            raise RequestValidationError([_unknown(name, self._known) for name in unknown])


def _unknown(name: str, known: frozenset[str]) -> dict[str, Any]:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    message = f"There is no such parameter{hint}"
    return {"type": "extra_forbidden", "loc": ("query", name[:100]), "msg": message}


def _query_names(dependant: Any) -> list[str]:  # noqa: ANN401 - FastAPI's own
    names = [field.alias for field in dependant.query_params]
    for inner in dependant.dependencies:
        names.extend(_query_names(inner))
    return names


async def _proven(scope: Scope, receive: Receive, *, form: bool) -> Receive:
    """Raise FormRefused unless a page of ours sent this, where a cookie speaks for the caller.

    Answers where the body is to be read from now.
    """
    caller, request = _caller(scope), Request(scope, receive)
    given = request.headers.get(CSRF_HEADER)
    if form and given is None and caller is not None and caller.via == "session":
        body = await request.body()
        receive = _again(body)
        async with Request(scope, _again(body)).form() as fields:
            field = fields.get(CSRF_FIELD)
        given = field if isinstance(field, str) else None
    refused = refuses_form(scope["method"], caller, request.cookies, given)
    if refused is not None:
        raise FormRefused(refused.reason)
    return receive


def _again(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _led_to_sign_in(scope: Scope) -> bool:
    if scope["method"] not in SAFE_METHODS or _caller(scope) is not None:
        return False
    return "text/html" in HTTPConnection(scope).headers.get("accept", "")


def _sign_in(scope: Scope) -> Response:
    query = scope["query_string"].decode("latin-1")
    wanted = quote(scope["path"] + (f"?{query}" if query else ""), safe="/")
    return RedirectResponse(f"{SIGN_IN}?next={wanted}", _SEE_OTHER)


def router_of(thing: object, prefix: str) -> APIRouter:
    """Make a router of the marked methods of an object, in the order they are written."""
    router = APIRouter(prefix=prefix, route_class=MarkedRoute)
    tag = prefix.rpartition("/")[2] or "house"
    names = [name for kind in reversed(type(thing).__mro__) for name in vars(kind)]
    for name in dict.fromkeys(names):
        method = inspect.getattr_static(type(thing), name)
        for mark in getattr(method, MARK, ()):
            _add(router, getattr(thing, name), mark, tag)
    return router


_CALLERS: Final[dict[Any, Callable[[Scope], Caller | None]]] = {
    Who: _demanded,
    MaybeWho: _caller,
    Admin: lambda scope: _administrator(_demanded(scope)),
}
_REQUEST: Final = "request_of_caller"


def _short(method: Callable[..., Any]) -> Callable[..., Any]:
    """Answer the method with its caller taken from the request directly.

    FastAPI needs 25 µs to ask a dependency, a quarter of what it needs for a whole small request.
    """
    kinds = get_type_hints(method, include_extras=True)
    callers = {name: _CALLERS[kind] for name, kind in kinds.items() if kind in _CALLERS}
    known = inspect.signature(method)
    resolved = [
        parameter.replace(annotation=kinds.get(parameter.name, parameter.annotation))
        for parameter in known.parameters.values()
        if parameter.name not in callers
    ]
    own = next((name for name, kind in kinds.items() if kind is Request), None)
    request = inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, annotation=Request)

    @functools.wraps(method)
    async def shortened(**values: Any) -> Any:  # noqa: ANN401 - the method's own
        scope = values[own].scope if own else values.pop(_REQUEST).scope
        for name, asked in callers.items():
            values[name] = asked(scope)
        return await method(**values)

    kept = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in resolved]
    answer = kinds.get("return", inspect.Signature.empty)
    answer = None if answer is type(None) else answer
    signed = inspect.Signature(kept if own else [*kept, request], return_annotation=answer)
    shortened.__signature__ = signed  # type: ignore[attr-defined]
    return shortened


def _add(router: APIRouter, method: Callable[..., Any], mark: Mark, tag: str) -> None:
    name = method.__name__
    router.add_api_route(
        mark.path,
        method,
        methods=[mark.method],
        name=f"{tag}.{name}",
        operation_id=f"{tag}_{mark.method.lower()}_{name}",
        summary=mark.summary,
        tags=[tag],
        status_code=mark.status,
        responses=responses_of(mark, method),
        include_in_schema=not mark.html,
        openapi_extra=None if mark.access == "anyone" else {"security": SECURITY},
        response_model=None if mark.html or mark.answers is not None else _DERIVED,
    )


_DERIVED: Final[Any] = Default(None)
SECURITY: Final[list[dict[str, list[str]]]] = [{"session": []}, {"key": []}, {"token": []}]
