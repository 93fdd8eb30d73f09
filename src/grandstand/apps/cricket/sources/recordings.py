"""Recorded matches: the control API of a feed that replays them, and files of feed responses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from grandstand.apps.cricket.domain.matches import PlayAction, ReplayStatus
from grandstand.apps.cricket.sources.sportmonks import Row
from grandstand.core.errors import InvalidInput
from grandstand.net.client import Response, Source, SourceRegistry
from grandstand.net.rate_limits import RateLimit

_CLIENT_ERRORS: Final = frozenset({400, 404, 409, 422})
_FILE_HELP: Final = (
    "Use responses of the score feed, one JSON object per line or a list of them, or a Cricsheet "
    "match."
)


class _ErrorBody(msgspec.Struct, frozen=True):
    message: str = ""


class ReplayFeedClient:
    """Client for the control API of a replay feed.

    Raises InvalidInput if the feed refuses a request.
    """

    def __init__(self, web: SourceRegistry, url: str) -> None:
        self._source: Source = web.source(
            "cricket-replays", base_url=url, rate=RateLimit(per_second=20, burst=20)
        )

    async def recordings(self) -> tuple[str, ...]:
        """Fetch the names of the recordings that can be replayed."""
        return (await self._request("GET", "/recordings")).json(tuple[str, ...])

    async def replays(self) -> tuple[ReplayStatus, ...]:
        """Fetch the running replays."""
        return (await self._request("GET", "/replays")).json(tuple[ReplayStatus, ...])

    async def play(
        self, recording: str, speed: float = 1.0, starts_in_seconds: float = 0.0
    ) -> ReplayStatus:
        """Start a replay; speed 10 is ten times as fast as the match was."""
        body = {"recording": recording, "speed": speed, "starts_in_seconds": starts_in_seconds}
        return (await self._request("POST", "/replays", body)).json(ReplayStatus)

    async def control(
        self, match_id: str, action: PlayAction, speed: float | None = None, ball: int | None = None
    ) -> ReplayStatus | None:
        """Send a command to a replay; None if it was stopped. Seek takes the number of a ball."""
        body = {"action": action, "speed": speed, "ball": ball}
        response = await self._request("PUT", f"/replays/{match_id}", body)
        return None if action == "stop" else response.json(ReplayStatus)

    async def _request(self, method: str, path: str, body: object = None) -> Response:
        response = await self._source.ask(
            method,
            path,
            headers={"content-type": "application/json"},
            body=None if body is None else msgspec.json.encode(body),
            accept=_CLIENT_ERRORS,
        )
        if response.status in _CLIENT_ERRORS:
            message = response.json(_ErrorBody).message
            raise InvalidInput(message or f"The replay feed responded with {response.status}.")
        return response


def parse_recording(content: bytes) -> tuple[tuple[datetime | None, Row], ...]:
    """Return the fixtures of a recording in order, each with its time if recorded.

    A response is a fixture, or has one or many under `data`; `{"at": …, "answer": …}` adds the
    time. Raises InvalidInput if the file cannot be read.
    """
    try:
        fixtures = tuple(_fixtures(_parse_values(content)))
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidInput(f"Cannot read the recording: {error}. {_FILE_HELP}") from error
    if not fixtures:
        raise InvalidInput(f"The recording is empty. {_FILE_HELP}")
    return fixtures


def _parse_values(content: bytes) -> list[object]:
    try:
        value = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]
    return value if isinstance(value, list) else [value]


def _fixtures(values: list[object]) -> Iterator[tuple[datetime | None, Row]]:
    for value in values:
        if not isinstance(value, dict):
            raise InvalidInput(f"The recording has a value that is no response. {_FILE_HELP}")
        at: datetime | None = None
        response: object = value
        if "answer" in value:
            at, response = msgspec.convert(value.get("at"), datetime | None), value["answer"]
        data = response.get("data", response) if isinstance(response, dict) else response
        for row in data if isinstance(data, list) else [data]:
            if not isinstance(row, dict) or "id" not in row:
                raise InvalidInput(f"The recording has a response without a match. {_FILE_HELP}")
            yield at, row
