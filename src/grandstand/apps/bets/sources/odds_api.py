"""Kept here: asking The Odds API, within its credits and with its key kept secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from grandstand.apps.bets.model.feeds import FedGames, FedScores, Spent
from grandstand.apps.bets.sources.answers import json_of
from grandstand.apps.bets.sources.errors import (
    CreditsShort,
    FeedNameUnfit,
    OddsKeyMissing,
    OddsKeyRefused,
    OddsUnreadable,
)
from grandstand.apps.bets.sources.odds_words import parse_games, parse_scores
from grandstand.apps.bets.sources.reading import (
    Refusals,
    Row,
)
from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.wire.answer import Answer
from grandstand.wire.errors import AnswerGarbled
from grandstand.wire.quota import Quota, QuotaReading
from grandstand.wire.web import Credentials, Rate, Retries, Web

GAME_MARKETS: Final = ("h2h", "spreads", "totals")
_REFUSED: Final = 401
_GONE: Final = 404
_BOOKS_A_REGION: Final = 10
_SCORES_CREDITS: Final = 2
_MOST_BYTES: Final = 32 * 1024 * 1024
_OUT_OF_CREDITS: Final = b"OUT_OF_USAGE_CREDITS"


class OddsApi:
    """The odds feed.

    Asking raises what `wire.errors` lists, and besides: OddsKeyMissing and OddsKeyRefused;
    CreditsShort before a question that would touch the `reserve`, which is then not asked;
    OddsUnreadable when an answer is none of the feed's.
    """

    def __init__(
        self,
        web: Web,
        clock: Clock,
        *,
        url: str,
        key: str | None,
        reserve: int = 0,
        regions: Sequence[str] = ("us",),
        timeout_seconds: float = 15.0,
    ) -> None:
        self._clock = clock
        self._has_key = bool(key)
        self._reserve = reserve
        self._regions = tuple(regions)
        self._quota = Spent()
        self._log = log("bets", source="odds-api")
        self._source = web.source(
            "odds-api",
            base_url=url,
            rate=Rate(per_second=5, burst=5),
            timeout_seconds=timeout_seconds,
            quota=Quota(None, "month"),
            credentials=Credentials(params={"apiKey": key}) if key else Credentials(),
            read_quota=read_credits,
            retries=Retries(tries=3, within_seconds=2 * timeout_seconds),
            most_bytes=_MOST_BYTES,
        )

    @property
    def quota(self) -> Spent:
        """What the last answer cost, and what was used and left after it."""
        return self._quota

    async def fetch_odds(
        self,
        sport: str,
        markets: Sequence[str] = GAME_MARKETS,
        *,
        bookmakers: Sequence[str] = (),
        game_ids: Sequence[str] = (),
    ) -> FedGames:
        """Fetch the games of a sport to come, with all prices; games that began are refused."""
        path = f"/v4/sports/{_part(sport)}/odds"
        params = self._params(markets, bookmakers)
        if game_ids:
            params["eventIds"] = ",".join(game_ids)
        answer = await self._ask(path, params, len(markets) * self._paid_regions(bookmakers))
        return self._games(_rows(answer, path), markets, self._clock.now())

    async def fetch_props(
        self, sport: str, game_id: str, markets: Sequence[str], *, bookmakers: Sequence[str] = ()
    ) -> FedGames:
        """Fetch one game with any of its markets; no games when it is gone or has begun."""
        path = f"/v4/sports/{_part(sport)}/events/{_part(game_id)}/odds"
        cost = len(markets) * self._paid_regions(bookmakers)
        answer = await self._ask(path, self._params(markets, bookmakers), cost, may_be_gone=True)
        if answer.status == _GONE:
            return FedGames((), spent=self._quota)
        return self._games([_whole(answer)], markets, self._clock.now())

    async def fetch_scores(self, sport: str, days: int = 3) -> FedScores:
        """Fetch how the games of the last days (1 to 3) stand."""
        path = f"/v4/sports/{_part(sport)}/scores"
        params = {"daysFrom": str(max(1, min(days, 3))), "dateFormat": "iso"}
        answer = await self._ask(path, params, _SCORES_CREDITS)
        refusals = Refusals()
        scores = parse_scores(_rows(answer, path), refusals)
        self._complain(refusals)
        return FedScores(scores, refusals.all, self._quota)

    def _params(self, markets: Sequence[str], bookmakers: Sequence[str]) -> dict[str, str]:
        params = {
            "markets": ",".join(markets),
            "oddsFormat": "american",
            "dateFormat": "iso",
        }
        if bookmakers:
            params["bookmakers"] = ",".join(bookmakers)
        else:
            params["regions"] = ",".join(self._regions)
        return params

    def _paid_regions(self, bookmakers: Sequence[str]) -> int:
        return -(-len(bookmakers) // _BOOKS_A_REGION) if bookmakers else len(self._regions)

    async def _ask(
        self, path: str, params: Mapping[str, str], cost: int, *, may_be_gone: bool = False
    ) -> Answer:
        if not self._has_key:
            raise OddsKeyMissing("The odds feed is not asked: set GRANDSTAND_BETS_ODDS_KEY")
        if cost:
            await self._check_credits(cost)
        accepted = {_REFUSED, _GONE} if may_be_gone else {_REFUSED}
        answer = await self._source.get(path, params=dict(params), accept=accepted, cost=cost)
        self._quota = spent_of(answer.headers, self._quota)
        if answer.status == _REFUSED:
            if _OUT_OF_CREDITS in answer.body:
                raise CreditsShort("The odds feed's credits of this month are used up")
            raise OddsKeyRefused("The odds feed refuses our key: check GRANDSTAND_BETS_ODDS_KEY")
        return answer

    async def _check_credits(self, cost: int) -> None:
        left = (await self._source.current()).quota_left
        if left is not None and left - cost < self._reserve:
            message = (
                f"The question takes {cost} credits of the {left} left, and {self._reserve} are "
                "kept in reserve: ask for less, lower bets.odds_reserve, or wait for the new month"
            )
            raise CreditsShort(message)

    def _games(
        self, rows: Sequence[object], markets: Sequence[str], now: datetime | None
    ) -> FedGames:
        refusals = Refusals()
        games = parse_games(rows, refusals, markets=markets, now=now)
        self._complain(refusals)
        return FedGames(games, refusals.all, self._quota)

    def _complain(self, refusals: Refusals) -> None:
        if refusals.unfit:
            self._log.warning("feed read in part", refused=len(refusals.all), first=refusals.all[0])


def read_credits(headers: Mapping[str, str], now: datetime) -> QuotaReading | None:
    """Answer what the feed's headers say of the month's credits; None when they say nothing."""
    del now
    left = _whole_number(headers, "x-requests-remaining")
    return None if left is None else QuotaReading(left, _whole_number(headers, "x-requests-used"))


def spent_of(headers: Mapping[str, str], before: Spent) -> Spent:
    """Answer what an answer cost and left, as its headers say."""
    left = _whole_number(headers, "x-requests-remaining")
    if left is None:
        return replace(before, credits=None)
    last, used = (_whole_number(headers, f"x-requests-{one}") for one in ("last", "used"))
    return Spent(last, used, left)


def _whole_number(headers: Mapping[str, str], name: str) -> int | None:
    """The feed has been seen to write whole numbers with a point: 498.0."""
    told = headers.get(name, "").partition(".")[0]
    return int(told) if told.isascii() and told.isdigit() and len(told) < 12 else None  # noqa: PLR2004


def _part(name: str) -> str:
    """Answer a part of a path; raise FeedNameUnfit when a name cannot be one."""
    if not name or not all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in name):
        raise FeedNameUnfit(name)
    return name


def _rows(answer: Answer, path: str) -> list[object]:
    told = json_of(answer)
    if not isinstance(told, list):
        raise OddsUnreadable(path, "it is no list")
    return told


def _whole(answer: Answer) -> Row:
    told = json_of(answer)
    if not isinstance(told, dict):
        raise AnswerGarbled(f"{answer.source} answered no object", source=answer.source)
    return told
