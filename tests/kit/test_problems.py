"""Every error in one shape."""

import json

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from grandstand.core.errors import (
    Broken,
    Conflict,
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotFound,
    SourceFailed,
)
from grandstand.kit.problems import (
    Problem,
    ProblemDetails,
    Problems,
    describe_error,
    problem_responses,
)
from grandstand.kit.request_limits import TooManyRequests


def _request(path: str, accept: str) -> Request:
    headers = [(b"accept", accept.encode()), (b"host", b"here")]
    state = {"request_id": "request-1"}
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "state": state,
        }
    )


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (InvalidInput("no"), "invalid-input", 400),
        (NotFound("no"), "not-found", 404),
        (Conflict("no"), "conflict", 409),
        (LimitReached("no"), "limit-reached", 429),
        (SourceFailed("no"), "source-failed", 502),
        (HTTPException(404), "not-found", 404),
        (HTTPException(405), "method-not-allowed", 405),
        (HTTPException(499), "problem", 499),
        (ZeroDivisionError("no"), "broken", 500),
    ],
)
def test_an_error_has_a_kind_and_a_status(error: Exception, kind: str, status: int) -> None:
    what = describe_error(error)

    assert (what.kind, what.status) == (kind, status)
    assert what.detail


@pytest.mark.parametrize("error", [Broken("inside"), RuntimeError("inside")])
def test_what_is_our_own_fault_is_not_told_in_detail(error: Exception) -> None:
    assert "inside" not in describe_error(error).detail


def test_a_wait_is_told_in_whole_seconds() -> None:
    assert describe_error(TooManyRequests("wait", 0.2)).headers == {"retry-after": "1"}


def test_a_problem_document_has_the_shape_that_is_declared() -> None:
    answer = Problems().answer(_request("/api/x", "*/*"), NotFound("There is no x"))

    document = json.loads(bytes(answer.body))
    problem = Problem.model_validate(document, strict=True)
    assert answer.media_type == "application/problem+json"
    assert document.keys() == Problem.model_fields.keys()
    assert (problem.status, problem.instance) == (404, "/api/x")
    assert problem.request_id == "request-1"


@pytest.mark.parametrize(
    ("path", "accept", "paged"),
    [
        ("/bets", "text/html,*/*", True),
        ("/bets", "application/json", False),
        ("/api/bets", "text/html", False),
    ],
)
def test_only_who_reads_pages_gets_a_page(path: str, accept: str, *, paged: bool) -> None:
    def page(_request: Request, what: ProblemDetails) -> Response:
        return PlainTextResponse(what.title, what.status)

    answer = Problems(page).answer(_request(path, accept), NotFound("no"))

    assert (answer.media_type == "text/plain") is paged
    assert answer.status_code == 404


def test_errors_of_one_status_are_declared_together() -> None:
    class Gone(NotFound):
        """It was here once."""

    class Here(GrandstandError):
        """It is here."""

    responses = problem_responses([NotFound, Gone, Gone, Here])

    assert list(responses) == [404, 500]
    assert responses[404]["description"].endswith("It was here once.")
