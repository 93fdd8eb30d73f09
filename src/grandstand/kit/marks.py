"""Kept here: how methods of a class are marked as routes, and what a mark says of itself."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from grandstand.base.errors import GrandstandError, NotFound
from grandstand.kit.problems import EVERYWHERE, RequestTooLarge, declared
from grandstand.kit.who.policy import SAFE_METHODS

Access: TypeAlias = Literal["user", "admin", "anyone"]
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])

MARK: Final = "__grandstand_route__"
_JSON: Final = "application/json"
_OK, _NOTHING = 200, 204


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a method is as a route.

    `also` are other ways to succeed, each with its meaning; `form` is the content's type.
    """

    method: str
    path: str
    summary: str
    problems: tuple[type[GrandstandError], ...] = ()
    access: Access = "user"
    example: Any = None
    answers: Any = None
    status: int = _OK
    html: bool = False
    also: Mapping[int, str] = field(default_factory=dict)
    form: str = _JSON


def _marking(mark: Mark) -> Callable[[F], F]:
    def marked(function: F) -> F:
        setattr(function, MARK, (*getattr(function, MARK, ()), mark))
        return function

    return marked


def _verb(method: str, status: int) -> Callable[..., Callable[[F], F]]:
    def verb(
        path: str,
        *,
        summary: str,
        problems: Sequence[type[GrandstandError]] = (),
        access: Access = "user",
        example: Any = None,  # noqa: ANN401 - any value that JSON can hold
        answers: Any = None,  # noqa: ANN401 - any type pydantic or msgspec describes
        status: int = status,
        also: Mapping[int, str] | None = None,
        form: str = _JSON,
    ) -> Callable[[F], F]:
        return _marking(
            Mark(
                method=method,
                path=path,
                summary=summary,
                problems=tuple(problems),
                access=access,
                example=example,
                answers=answers,
                status=status,
                also=also or {},
                form=form,
            )
        )

    verb.__doc__ = (
        f"Mark a method as what answers {method}; `answers` is the type behind a bare Response."
    )
    return verb


get = _verb("GET", _OK)
post = _verb("POST", _OK)
put = _verb("PUT", _OK)
patch = _verb("PATCH", _OK)
delete = _verb("DELETE", _NOTHING)


def page(
    path: str, *, access: Access = "user", method: Literal["GET", "POST"] = "GET"
) -> Callable[[F], F]:
    """Mark a method as a page, or as what takes a page's form; it answers a Response.

    Somebody who is not signed in is led to the sign-in page and back.
    """
    return _marking(Mark(method=method, path=path, summary="", access=access, html=True))


def responses_of(mark: Mark, method: Callable[..., Any]) -> dict[int | str, dict[str, Any]]:
    """Answer every way a route may answer, for the document of the API."""
    if mark.html:
        return {}
    known = [*EVERYWHERE, *mark.problems]
    if "{" in mark.path:
        known.append(NotFound)
    if mark.method not in SAFE_METHODS:
        known.append(RequestTooLarge)
    responses = declared(known)
    described = inspect.getdoc(method) or mark.summary
    known_forms = _described(mark)
    answers = {mark.status: described.splitlines()[0], **mark.also}
    return {
        status: {"description": told} | known_forms for status, told in answers.items()
    } | responses


def _described(mark: Mark) -> dict[str, Any]:
    form: dict[str, Any] = {}
    if mark.form != _JSON:
        form["schema"] = {"type": "string"}
    if mark.answers is not None:
        form["schema"] = _schema(mark.answers)
    if mark.example is not None:
        form["example"] = mark.example
    return {"content": {mark.form: form}} if form else {}


def _schema(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type is any value
    (schema,), _ = msgspec.json.schema_components(
        [kind], ref_template="#/components/schemas/{name}"
    )
    return schema
