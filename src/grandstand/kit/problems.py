"""Error responses in the format of RFC 9457 (problem details)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from grandstand.core.errors import (
    Broken,
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    Unavailable,
)
from grandstand.core.logging import get_logger

PROBLEM_JSON: Final = "application/problem+json"
PROBLEM_TYPE_PREFIX: Final = "urn:grandstand:problem:"


class NotSignedIn(NotAllowed):
    """The request has no valid credentials."""

    code = "not-signed-in"

    status = 401


class RequestTooLarge(InvalidInput):
    """The request body exceeds the limit."""

    code = "request-too-large"

    status = 413


class BodyTimeout(InvalidInput):
    """The request body was not sent in time."""

    code = "body-timeout"

    status = 408
    retry = True


class RequestTimeout(Unavailable):
    """The response was not ready in time."""

    code = "request-timeout"


class FieldError(BaseModel):
    """One invalid field, and why."""

    field: str = Field(examples=["body.time_zone"])
    message: str = Field(examples=["Unknown time zone"])


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(examples=[f"{PROBLEM_TYPE_PREFIX}not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["No job named nightly. The jobs page lists all jobs."])
    instance: str = Field(examples=["/api/platform/jobs/nightly"])
    request_id: str = Field(examples=["01k2m3n4p5q6r7s8t9v0w1x2y3"])
    errors: list[FieldError] = []


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """An error as shown in a problem document or on an error page."""

    kind: str
    title: str
    status: int
    detail: str
    errors: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] | None = None


ErrorPage: TypeAlias = Callable[[Request, ProblemDetails], Response]


def describe_error(error: Exception) -> ProblemDetails:
    """Return the public description of an error; an unexpected one is not disclosed."""
    if isinstance(error, GrandstandError):
        return _describe_own(error)
    if isinstance(error, RequestValidationError):
        fields = tuple(
            (
                _replace_surrogates(".".join(str(step)[:100] for step in each["loc"])),
                _replace_surrogates(str(each["msg"])),
            )
            for each in error.errors()
        )
        detail = "; ".join(f"{field}: {message}" for field, message in fields[:3])
        return ProblemDetails("invalid-fields", "Invalid fields", 422, detail, fields)
    if isinstance(error, HTTPException):
        try:
            title = HTTPStatus(error.status_code).phrase.capitalize()
        except ValueError:
            title = "Problem"
        standard = str(error.detail).capitalize() == title
        detail = title if standard else error.detail or title
        kind = title.lower().replace(" ", "-")
        return ProblemDetails(kind, title, error.status_code, detail, headers=error.headers)
    return ProblemDetails(
        "broken",
        "Broken",
        500,
        "Internal error. The log has details under this request id.",
    )


def _describe_own(error: GrandstandError) -> ProblemDetails:
    name = error.code
    title = name.replace("-", " ").capitalize()
    wait = getattr(error, "retry_after_seconds", None)
    headers = {"retry-after": str(max(1, round(wait)))} if wait is not None else None
    if error.status == 401:
        headers = {"www-authenticate": "Bearer"}
    if error.status >= 500 and isinstance(error, Broken):
        return ProblemDetails(name, title, error.status, "Internal error. The log has details.")
    return ProblemDetails(name, title, error.status, str(error) or title, headers=headers)


def _replace_surrogates(text: str) -> str:
    """Replace half surrogate pairs, which a JSON name may contain but no response can."""
    return text.encode("utf-8", "replace").decode()


def request_id_of(scope: Mapping[str, Any]) -> str:
    """Return the id of a request in responses and logs; empty outside the server."""
    state = scope.get("state") or {}
    return str(state.get("request_id", ""))


def problem_response(what: ProblemDetails, *, path: str, request_id: str) -> Response:
    """Return a problem document as a response."""
    document: dict[str, Any] = {
        "type": PROBLEM_TYPE_PREFIX + what.kind,
        "title": what.title,
        "status": what.status,
        "detail": what.detail,
        "instance": path,
        "request_id": request_id,
        "errors": [{"field": field, "message": message} for field, message in what.errors],
    }
    headers = {"cache-control": "no-store", **(what.headers or {})}
    body = msgspec.json.encode(document)
    return Response(body, what.status, headers=headers, media_type=PROBLEM_JSON)


def prefers_page(request: Request) -> bool:
    """Return whether the client is a browser that expects a page."""
    path = request.url.path
    return not path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def log_failure(scope: Mapping[str, Any], error: Exception) -> None:
    """Log the cause of a response with status 500."""
    get_logger("server").error(
        "request_failed", path=scope["path"], request_id=request_id_of(scope), exc_info=error
    )


class Problems:
    """Responds to errors with a page or a problem document."""

    def __init__(self, page: ErrorPage | None = None) -> None:
        self._page = page

    def answer(self, request: Request, error: Exception) -> Response:
        """Return an error response in the format the client prefers."""
        what = describe_error(error)
        if self._page is not None and prefers_page(request):
            return self._page(request, what)
        path = request.url.path
        return problem_response(what, path=path, request_id=request_id_of(request.scope))

    async def handle(self, request: Request, error: Exception) -> Response:
        """Handle an exception for Starlette.

        Starlette raises an unexpected exception again, for the server to log; an error of ours ends
        here.
        """
        if isinstance(error, Broken):
            log_failure(request.scope, error)
        return self.answer(request, error)


def problem_responses(errors: Iterable[type[GrandstandError]]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for the errors of a route."""
    meanings: dict[int, list[str]] = {}
    for error in errors:
        sentence = (error.__doc__ or error.__name__).splitlines()[0]
        known = meanings.setdefault(error.status, [])
        if sentence not in known:
            known.append(sentence)
    return {
        status: {
            "description": " ".join(sentences),
            "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, sentences in sorted(meanings.items())
    }


class InvalidFields(InvalidInput):
    """A field is missing, unknown or invalid."""

    code = "invalid-fields"

    status = 422


COMMON_ERRORS: Final[tuple[type[GrandstandError], ...]] = (
    InvalidInput,
    NotSignedIn,
    NotAllowed,
    InvalidFields,
    LimitReached,
    Broken,
    Unavailable,
)


def with_problem_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Add the problem schemas to an OpenAPI document."""
    from pydantic.json_schema import models_json_schema

    _, made = models_json_schema(
        [(Problem, "serialization")], ref_template="#/components/schemas/{model}"
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(made["$defs"])
    return document
