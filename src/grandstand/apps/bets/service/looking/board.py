"""Kept here: what is on: games, prices, predictions, and all that is known of one game."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.service.incoming.archiving import Archiving
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.ports import ExchangePrice
from grandstand.apps.bets.service.predicting.engine import model_names
from grandstand.apps.bets.service.predicting.picks import pick_of
from grandstand.apps.bets.service.predicting.publishing import selections_in
from grandstand.apps.bets.service.refusals import GameUnknown, ModelUnknown
from grandstand.apps.bets.service.values import (
    FinalScore,
    GameSummary,
    GameView,
    InjuryView,
    Line,
    LinePoint,
    Page,
    PastResult,
    Pick,
    Quoted,
)
from grandstand.apps.bets.store import (
    Analysis,
    BookmakerSeen,
    GameNote,
    GameOdds,
    GameOutcome,
    HistoricalOdds,
    Injury,
    PropOdds,
    TeamOutcome,
)
from grandstand.base.errors import GrandstandError, InvalidInput

BEGUN: Final = timedelta(hours=3)
_FORM: Final = 5
_MEETINGS: Final = 10
_PATH: Final = 40


class Board:
    """Shows games as they stand."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._archiving = Archiving(means)

    async def bookmakers(self, sport: str) -> tuple[str, ...]:
        """Answer the bookmakers that gave prices in a sport."""
        seen = self._means.each(BookmakerSeen.of_sport(self._means.sport(sport)))
        return tuple([each.bookmaker async for each in seen])

    async def games(
        self, sport: str, *, bookmaker: str | None, limit: int, after: str | None
    ) -> Page[GameSummary]:
        """Answer some games from a position on, soonest first."""
        rows, position = await self._some(sport, limit, after)
        found = [
            await self._summary(game, bookmaker, with_picks=True)
            for game in _by_game(rows).values()
        ]
        return Page(tuple(each for each in found if each.quotes), position)

    async def _some(
        self, sport: str, limit: int, after: str | None
    ) -> tuple[list[GameOdds], str | None]:
        """Read the latest prices of up to so many games; games are never cut in two."""
        start, last = self._means.now() - BEGUN, ""
        if after is not None:
            start, last = _read_position(after)
        found: dict[str, list[GameOdds]] = {}
        reading = GameOdds.upcoming(self._means.sport(sport), start)
        async for row in self._means.each(reading):
            if after is not None and (row.commence_time, row.game_id) <= (start, last):
                continue
            later = len(found) > limit and row.game_id not in found
            if later and row.commence_time > max(each[0].commence_time for each in found.values()):
                break
            found.setdefault(row.game_id, []).append(row)
        order = sorted(found.values(), key=lambda rows: (rows[0].commence_time, rows[0].game_id))
        kept = order[:limit]
        more = len(order) > limit and bool(kept)
        position = _position(kept[-1][0]) if more else None
        return [row for rows in kept for row in rows], position

    async def _summary(
        self, rows: Sequence[GameOdds], bookmaker: str | None, *, with_picks: bool
    ) -> GameSummary:
        first = rows[0]
        kept = [row for row in rows if bookmaker is None or row.bookmaker == bookmaker]
        note = await self._means.store(GameNote.of_game(first.game_id))
        picks = await self._picks(first.sport, first.game_id) if with_picks else ()
        return GameSummary(
            first.game_id,
            first.sport,
            first.home_team,
            first.away_team,
            first.commence_time,
            tuple(self._quoted(row, note) for row in kept),
            picks,
            await self._path(first),
            await self._exchange(first),
        )

    def _quoted(self, row: GameOdds | PropOdds, note: GameNote | None) -> Quoted:
        age = int((self._means.now() - told_at(row, note)).total_seconds())
        player = row.player if isinstance(row, PropOdds) else None
        return Quoted(
            row.bookmaker, row.market_key, row.outcomes, row.captured_at, max(0, age), player
        )

    async def _path(self, row: GameOdds) -> tuple[tuple[datetime, float], ...]:
        """Answer how the home side's fair chance went at the first followed bookmaker."""
        for bookmaker in (*self._means.settings.bookmakers, row.bookmaker):
            reading = GameOdds.history(row.game_id, bookmaker, "h2h").newest(_PATH)
            found = [one async for one in self._means.each(reading)]
            if found:
                return tuple((one.captured_at, home_chance(one)) for one in reversed(found))
        return ()

    async def _exchange(self, row: GameOdds) -> tuple[ExchangePrice, ...]:
        lent = self._means.exchange
        if lent is None:
            return ()
        try:
            return await lent.of_game(row.sport, row.home_team, row.away_team, row.commence_time)
        except GrandstandError:
            return ()

    async def _picks(self, sport: str, game_id: str) -> tuple[Pick, ...]:
        """Answer every built-in model's pick of a game, at the first bookmaker that has it."""
        found: dict[str, Pick] = {}
        names = set(model_names())
        for bookmaker in self._means.settings.bookmakers:
            async for row in self._means.each(Analysis.of_game(sport, game_id, bookmaker)):
                if row.model in names and not row.is_inverse:
                    found.setdefault(f"{row.model}#{row.subject}", pick_of(row))
        return tuple(sorted(found.values(), key=lambda each: (each.market_key, each.model)))

    async def game(self, game_id: str) -> GameView:
        """Answer everything about one game; raise GameUnknown."""
        note = await self._means.store(GameNote.of_game(game_id)) if "#" not in game_id else None
        rows: list[GameOdds | PropOdds] = []
        if note is not None:
            rows += [row async for row in self._means.each(GameOdds.of_game(game_id))]
            rows += [row async for row in self._means.each(PropOdds.of_game(game_id))]
        if note is None:
            message = f"There is no game {game_id}"
            raise GameUnknown(message)
        standing = [row for row in rows if row.latest]
        winners = [row for row in rows if isinstance(row, GameOdds)]
        closing = await self._archiving.closing(game_id)
        summary = GameSummary(
            game_id,
            note.sport,
            note.home_team,
            note.away_team,
            note.commence_time,
            tuple(self._quoted(row, note) for row in standing),
            (),
            await self._path(winners[0]) if winners else (),
            await self._exchange(winners[0]) if winners else (),
        )
        return GameView(
            summary,
            lines_of(rows),
            tuple(_closed(row) for row in closing),
            await self._picks(note.sport, game_id),
            await self._form(note.sport, note.home_team),
            await self._form(note.sport, note.away_team),
            await self._meetings(note),
            await self._injuries(note),
            summary.exchange,
            await self._score(note),
        )

    async def _form(self, sport: str, team: str) -> tuple[PastResult, ...]:
        recent = await self._means.store(TeamOutcome.recent(sport, team, _FORM))
        return tuple(
            PastResult(
                each.game_id,
                each.completed_at,
                each.team,
                each.opponent,
                each.team_score,
                each.opponent_score,
                each.is_home,
            )
            for each in recent
        )

    async def _meetings(self, note: GameNote) -> tuple[PastResult, ...]:
        """Answer the last meetings of two teams, each by its last correction."""
        reading = GameOutcome.meetings(note.sport, note.home_team, note.away_team, 2 * _MEETINGS)
        last: dict[str, GameOutcome] = {}
        for each in await self._means.store(reading):
            known = last.get(each.game_id)
            if known is None or _told_last(each) > _told_last(known):
                last[each.game_id] = each
        return tuple(
            PastResult(
                each.game_id,
                each.completed_at,
                each.home_team,
                each.away_team,
                each.home_score,
                each.away_score,
                True,
            )
            for each in list(last.values())[:_MEETINGS]
        )

    async def _injuries(self, note: GameNote) -> tuple[InjuryView, ...]:
        last: dict[tuple[str, str], Injury] = {}
        for team in (note.home_team, note.away_team):
            async for row in self._means.each(Injury.of_team(note.sport, team)):
                last[team, row.player] = row
        return tuple(
            InjuryView(team, row.player, row.status, row.injury, row.reported_on)
            for (team, _), row in last.items()
            if row.status != "active"
        )

    async def _score(self, note: GameNote) -> FinalScore | None:
        found = await self._means.store(GameOutcome.final(note.sport, note.game_id))
        if not found:
            return None
        return FinalScore(
            found[0].home_score, found[0].away_score, found[0].completed_at, found[0].corrected_at
        )

    async def props(
        self,
        sport: str,
        *,
        bookmaker: str | None,
        market_key: str | None,
        limit: int,
        after: str | None,
    ) -> Page[tuple[GameSummary, Quoted]]:
        """Answer prices about players in games to come."""
        reading = PropOdds.upcoming(self._means.sport(sport), self._means.now())
        if bookmaker is not None:
            reading = reading.where(PropOdds.bookmaker == bookmaker)
        if market_key is not None:
            reading = reading.where(PropOdds.market_key == market_key)
        page = await self._means.store.page(reading, limit, after=after)
        notes = await notes_of(self._means, {row.game_id for row in page.items})
        found = [
            (
                GameSummary(
                    row.game_id, row.sport, row.home_team, row.away_team, row.commence_time, ()
                ),
                self._quoted(row, notes.get(row.game_id)),
            )
            for row in page.items
        ]
        return Page(tuple(found), page.cursor)

    async def analyses(
        self,
        sport: str,
        bookmaker: str,
        model: str,
        *,
        analysis_type: AnalysisType,
        limit: int,
        after: str | None,
    ) -> Page[Pick]:
        """Answer a built-in model's picks for games to come; raise ModelUnknown."""
        if model not in model_names() or "#" in bookmaker:
            message = f"There is no model {model}; there are {', '.join(model_names())}"
            raise ModelUnknown(message)
        now = self._means.now()
        reading = Analysis.picks(self._means.sport(sport), bookmaker, model, now, analysis_type)
        page = await self._means.store.page(reading, limit, after=after)
        return Page(tuple(pick_of(row) for row in page.items), page.cursor)

    async def top(self, sport: str, bookmaker: str) -> Pick | None:
        """Answer the pick with the greatest expected return at a bookmaker; None without any."""
        found: list[Pick] = []
        now = self._means.now()
        for model in model_names():
            reading = Analysis.picks(self._means.sport(sport), bookmaker, model, now)
            found += [pick_of(row) async for row in self._means.each(reading)]
        priced = [each for each in found if each.expected_return is not None]
        return max(priced, key=lambda each: each.expected_return or 0.0, default=None)


async def notes_of(means: Means, game_ids: Iterable[str]) -> dict[str, GameNote]:
    """Answer what is known of some games, by their ids."""
    found = await means.store.get_many(GameNote.of_game(each) for each in sorted(set(game_ids)))
    return {note.game_id: note for note in found if note is not None}


def told_at(row: GameOdds | PropOdds, note: GameNote | None) -> datetime:
    """Answer when a price that stands was last told, changed or not."""
    told = None if note is None else (note.told_at or {}).get(row.bookmaker)
    return row.captured_at if told is None else max(told, row.captured_at)


def home_chance(row: GameOdds) -> float:
    """Answer the home side's chance without the margin."""
    from grandstand.apps.bets.model.prices.devig import devig

    chances = devig([decimal_of(each.price) for each in row.outcomes])
    sides = [each.side for each in selections_in(row)]
    return chances[sides.index("home")]


def lines_of(rows: Iterable[GameOdds | PropOdds]) -> tuple[Line, ...]:
    """Answer every bookmaker's prices market by market, oldest first."""
    found: dict[tuple[str, str, str], list[GameOdds | PropOdds]] = {}
    for row in sorted(rows, key=lambda each: each.captured_at):
        player = row.player if isinstance(row, PropOdds) else ""
        found.setdefault((row.bookmaker, row.market_key, player), []).append(row)
    return tuple(
        Line(
            bookmaker,
            market,
            tuple(LinePoint(each.captured_at, each.outcomes) for each in points),
            player or None,
        )
        for (bookmaker, market, player), points in sorted(found.items())
    )


def _told_last(outcome: GameOutcome) -> datetime:
    return outcome.corrected_at or outcome.completed_at


def _closed(row: HistoricalOdds) -> Quoted:
    age = int((row.commence_time - row.updated_at).total_seconds())
    return Quoted(row.bookmaker, row.market_key, row.outcomes, row.updated_at, age, row.player)


def _by_game(rows: Iterable[GameOdds]) -> dict[str, list[GameOdds]]:
    found: dict[str, list[GameOdds]] = {}
    for row in rows:
        found.setdefault(row.game_id, []).append(row)
    return found


def _position(row: GameOdds) -> str:
    return f"{row.commence_time.isoformat()}|{row.game_id}"


def _read_position(text: str) -> tuple[datetime, str]:
    moment, _, game_id = text.partition("|")
    try:
        return datetime.fromisoformat(moment), game_id
    except ValueError as fault:
        message = "This position is not good here: ask again without one"
        raise InvalidInput(message) from fault
