"""Kept here: the one shape in which every error is answered, RFC 9457's problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.errors import (
    Broken,
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    Unavailable,
)

FORM: Final = "application/problem+json"
KIND: Final = "urn:grandstand:problem:"
_UNPROCESSABLE: Final = 422
_LONGEST_STEP: Final = 100
_SERVER_FAULT: Final = 500


class NotSignedIn(NotAllowed):
    """The request carries no credential that is accepted here."""

    status = 401


class RequestTooLarge(InvalidInput):
    """The request's body is larger than this house takes."""

    status = 413


class TookTooLong(Unavailable):
    """The answer was not ready within the time a request may take."""


class FieldRefused(BaseModel):
    """One field that was not accepted, and why."""

    field: str = Field(examples=["body.time_zone"])
    message: str = Field(examples=["There is no such time zone"])


class Problem(BaseModel):
    """What went wrong, in the form of RFC 9457."""

    type: str = Field(examples=[f"{KIND}not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no job nightly; the jobs page lists them"])
    instance: str = Field(examples=["/api/house/jobs/nightly"])
    request_id: str = Field(examples=["01k2m3n4p5q6r7s8t9v0w1x2y3"])
    errors: list[FieldRefused] = []


@dataclass(frozen=True, slots=True)
class Told:
    """A problem before it has a form: what the problem document and the error page both say."""

    kind: str
    title: str
    status: int
    detail: str
    errors: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] | None = None


ErrorPage: TypeAlias = Callable[[Request, Told], Response]


def told(error: Exception) -> Told:
    """Answer what a caller is told of an error; the inside of an unexpected one stays inside."""
    if isinstance(error, GrandstandError):
        return _told_ours(error)
    if isinstance(error, RequestValidationError):
        fields = tuple((_field(e["loc"]), _whole(str(e["msg"]))) for e in error.errors())
        detail = "; ".join(f"{field}: {message}" for field, message in fields[:3])
        return Told("fields-invalid", "Fields invalid", _UNPROCESSABLE, detail, fields)
    if isinstance(error, HTTPException):
        title = _phrase(error.status_code)
        plain = str(error.detail).capitalize() == title
        detail = _SENTENCES.get(error.status_code, title) if plain else error.detail or title
        return Told(_kebab(title), title, error.status_code, detail, headers=error.headers)
    return Told(
        "broken", "Broken", _SERVER_FAULT, "This is our own fault; the log says more, by this id"
    )


def _told_ours(error: GrandstandError) -> Told:
    name = _kebab(type(error).__name__)
    title = name.replace("-", " ").capitalize()
    wait = getattr(error, "retry_after_seconds", None)
    headers = {"retry-after": str(max(1, round(wait)))} if wait is not None else None
    if error.status >= _SERVER_FAULT and isinstance(error, Broken):
        return Told(name, title, error.status, "This is our own fault; the log says more")
    return Told(name, title, error.status, str(error) or title, headers=headers)


_SENTENCES: Final = {
    404: "There is nothing at this address",
    405: "This address does not take that method",
}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase.capitalize()
    except ValueError:
        return "Problem"


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "-", name).lower()


def _field(place: Sequence[int | str]) -> str:
    return _whole(".".join(str(step)[:_LONGEST_STEP] for step in place))


def _whole(text: str) -> str:
    """JSON may name a field by half a character, which no answer can be written with."""
    return text.encode("utf-8", "replace").decode()


def request_id_of(scope: Mapping[str, Any]) -> str:
    """Answer the id this request goes by in answers and logs; empty outside the server."""
    state = scope.get("state") or {}
    return str(state.get("request_id", ""))


def problem_response(what: Told, *, path: str, request_id: str) -> Response:
    """Put what is told into the form of RFC 9457."""
    document: dict[str, Any] = {
        "type": KIND + what.kind,
        "title": what.title,
        "status": what.status,
        "detail": what.detail,
        "instance": path,
        "request_id": request_id,
        "errors": [{"field": field, "message": message} for field, message in what.errors],
    }
    headers = {"cache-control": "no-store", **(what.headers or {})}
    body = msgspec.json.encode(document)
    return Response(body, what.status, headers=headers, media_type=FORM)


def prefers_page(request: Request) -> bool:
    """Whether whoever asks is a browser that shows a page, rather than a program."""
    path = request.url.path
    return not path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


class Problems:
    """Answers errors: as a page to who reads pages, as a problem document to all others."""

    def __init__(self, page: ErrorPage | None = None) -> None:
        self._page = page

    def answer(self, request: Request, error: Exception) -> Response:
        """Answer an error in the form the client prefers."""
        what = told(error)
        if self._page is not None and prefers_page(request):
            return self._page(request, what)
        path = request.url.path
        return problem_response(what, path=path, request_id=request_id_of(request.scope))

    async def handle(self, request: Request, error: Exception) -> Response:
        """Do the same as an exception handler of starlette's."""
        return self.answer(request, error)


def declared(errors: Iterable[type[GrandstandError]]) -> dict[int | str, dict[str, Any]]:
    """Answer the responses OpenAPI is told a route may give when it fails."""
    meanings: dict[int, list[str]] = {}
    for error in errors:
        sentence = (error.__doc__ or error.__name__).splitlines()[0]
        known = meanings.setdefault(error.status, [])
        if sentence not in known:
            known.append(sentence)
    return {
        status: {
            "description": " ".join(sentences),
            "content": {FORM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, sentences in sorted(meanings.items())
    }


class FieldsInvalid(InvalidInput):
    """A field is missing, unknown, or not of the kind this address takes."""

    status = _UNPROCESSABLE


EVERYWHERE: Final[tuple[type[GrandstandError], ...]] = (
    InvalidInput,
    NotSignedIn,
    NotAllowed,
    FieldsInvalid,
    LimitReached,
    Broken,
    Unavailable,
)


def with_problem_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Add the shape of problems to an OpenAPI document."""
    from pydantic.json_schema import models_json_schema

    _, made = models_json_schema(
        [(Problem, "serialization")], ref_template="#/components/schemas/{model}"
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(made["$defs"])
    return document
