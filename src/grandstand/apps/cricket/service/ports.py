"""Kept here: what the service needs from outsiders: scores, phones to push to, and replays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias

from grandstand.apps.cricket.model import LeagueFacts, StandingFacts, TeamFacts
from grandstand.apps.cricket.model.alerts import Alert, ApnsPriority
from grandstand.apps.cricket.model.display import UnifiedDisplayState
from grandstand.apps.cricket.model.replays import Replayed, ReplayOrder, ReplayWish
from grandstand.apps.cricket.sources.sportmonks import HeardFixture, Parsed
from grandstand.apps.cricket.store import Browser
from grandstand.wire.web import SourceStatus

PushEvent: TypeAlias = Literal["start", "update", "end"]
Answers: TypeAlias = Iterator[tuple[datetime, dict[str, object]]]
Fate: TypeAlias = Literal["delivered", "gone", "later", "refused", "unsent"]


class Feed(Protocol):
    """Whoever knows the scores; `sources.sportmonks` says what each method promises."""

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        """Fetch all matches of today that are live or about to be."""
        ...

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[HeardFixture]:
        """Fetch one match; raise MatchUnknown."""
        ...

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        """Fetch the matches that begin from a day to another."""
        ...

    async def leagues(self) -> Parsed[tuple[LeagueFacts, ...]]:
        """Fetch all leagues."""
        ...

    async def teams(self) -> Parsed[tuple[TeamFacts, ...]]:
        """Fetch all teams."""
        ...

    async def standings(self, season_id: str) -> Parsed[tuple[StandingFacts, ...]]:
        """Fetch the table of a season."""
        ...

    async def status(self) -> tuple[SourceStatus, ...]:
        """Answer how things stand with the feed."""
        ...

    async def pace(self, every_seconds: float) -> float:
        """Answer how long to wait before the next look at the live list."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """What many Live Activities are told alike.

    `at` is the timestamp, in whole seconds. A start needs an alert, and has a `channel_id` where
    its updates come over a broadcast channel.
    """

    match_id: str
    event: PushEvent
    at: datetime
    content: UnifiedDisplayState
    priority: ApnsPriority
    stale_at: datetime | None = None
    dismiss_at: datetime | None = None
    alert: Alert | None = None
    channel_id: str | None = None


class Target(NamedTuple):
    """One token a notice goes to, and the id it goes under, the same whenever it is sent again."""

    token: str
    apns_id: str


class Verdict(NamedTuple):
    """What came of a push to one token.

    `gone`: the token is no good, since `at` if that was told. `later`: it may pass, not before
    `retry_seconds`. `refused`: our own fault, not to be repeated. `unsent`: it cannot have arrived.
    """

    fate: Fate
    reason: str = ""
    at: datetime | None = None
    retry_seconds: float | None = None


class Phones(Protocol):
    """The push service; results are values, one for each target in their order."""

    async def tell(self, notice: Notice, targets: Sequence[Target]) -> Sequence[Verdict]:
        """Send a notice to Live Activities by their tokens."""
        ...

    async def alert(
        self, alert: Alert, targets: Sequence[Target], *, match_id: str, expires_at: datetime
    ) -> Sequence[Verdict]:
        """Send a plain alert to devices by their tokens."""
        ...

    async def broadcast(self, notice: Notice, channel_id: str, request_id: str) -> Verdict:
        """Send a notice to everybody who listens to a channel."""
        ...

    async def open_channel(self) -> str:
        """Make a broadcast channel and answer its id; raise SourceFailed or Unavailable."""
        ...

    async def close_channel(self, channel_id: str) -> None:
        """Delete a broadcast channel; one that is not there is fine."""
        ...

    async def close(self) -> None:
        """End all connections; nothing is sent afterwards."""
        ...


class Browsers(Protocol):
    """The push services of browsers."""

    @property
    def public_key(self) -> str:
        """What a page subscribes with."""
        ...

    def check(self, browser: Browser) -> None:
        """Raise InvalidInput for a subscription that nothing could be sent to."""
        ...

    async def send(self, browser: Browser, message: bytes, *, topic: str) -> Verdict:
        """Send one message; one of the same topic that waits is replaced by it."""
        ...

    async def close(self) -> None:
        """End all connections; nothing is sent afterwards."""
        ...


class Hooks(Protocol):
    """Whoever takes key events by webhook."""

    async def post(self, body: bytes, idempotency_key: str) -> None:
        """Post JSON; raise what `wire.errors` lists."""
        ...


class Replays(Protocol):
    """A feed that replays; `sources.replays` says what each method promises."""

    async def tapes(self) -> tuple[str, ...]:
        """Fetch the names of the tapes there are."""
        ...

    async def replays(self) -> tuple[Replayed, ...]:
        """Fetch the matches that are replayed."""
        ...

    async def play(self, wish: ReplayWish) -> Replayed:
        """Have a match played."""
        ...

    async def control(self, match_id: str, order: ReplayOrder) -> Replayed | None:
        """Have a replay do something; None once it was stopped."""
        ...


class Cricsheet(Protocol):
    """Whoever can tell a match of cricsheet's as the feed would."""

    def __call__(self, content: bytes) -> Answers:
        """Answer what the feed would have said, ball by ball."""
        ...
