"""Users' wagers: recording, import, settlement and summary."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Final, get_args

from pydantic import Field

from grandstand.apps.bets.domain.ledger import (
    PURSE,
    STAKES,
    LedgerEvent,
    add_profit,
    add_stake,
    reverse_postings,
    transfer,
)
from grandstand.apps.bets.domain.odds import InvalidPrice, parse_american
from grandstand.apps.bets.domain.records import GameRef, Interval, slug
from grandstand.apps.bets.domain.selections import (
    MARKETS,
    InvalidSelection,
    Selection,
    Side,
    decode_selection,
    encode_selection,
    format_selection,
    is_prop,
)
from grandstand.apps.bets.domain.settlement import Payout, pay_bet
from grandstand.apps.bets.services.database import Database, ExactNumber, MoneyCents, copy_as
from grandstand.apps.bets.services.ingest.odds_collector import awaited_game
from grandstand.apps.bets.services.ledger import (
    BookState,
    LedgerService,
    LedgerStep,
    LimitService,
    user_book,
)
from grandstand.apps.bets.services.scoreboard import (
    BalancePoint,
    BetRecord,
    mean_interval,
    rate_interval,
    roi_interval,
    summarize_by_kind,
)
from grandstand.apps.bets.services.settlement import (
    ClosingValue,
    GameEnding,
    describe_result,
    settlement_postings,
)
from grandstand.apps.bets.store.games import GameInfo
from grandstand.apps.bets.store.wagers import Wager
from grandstand.core.errors import Conflict, GrandstandError, InvalidInput, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Page
from grandstand.kit.events import Event as AppEvent
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher
from grandstand.storage.tables.operations.item_ops import Write

COLUMNS: Final = ("game_id", "market", "side", "price", "stake")
OPTIONAL: Final = ("point", "participant", "bookmaker", "placed_at", "note", "token")
_MAX_BYTES: Final = 2_000_000
_MAX_DIGITS: Final = 9
_CENTS: Final = 100


@dataclass(frozen=True, slots=True)
class WagerRequest:
    """A bet placed elsewhere.

    `side` is home, away, draw, over or under; a player prop needs its `participant`. The same
    `token` is recorded once.
    """

    game_id: str
    market_key: str
    side: str
    price: int
    stake_cents: int
    point: Decimal | None = None
    bookmaker: str = ""
    placed_at: datetime | None = None
    note: str = ""
    participant: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class WagerView(GameRef):
    """A user's wager and its result; `clv` is relative to the price."""

    wager_id: str
    market_key: str
    side: str
    point: ExactNumber | None
    participant: str | None
    price: int
    stake_cents: Annotated[MoneyCents, Field(serialization_alias="stake")]
    bookmaker: str
    note: str
    placed_at: datetime
    status: str
    verdict: str | None
    payout_cents: Annotated[MoneyCents | None, Field(serialization_alias="payout")]
    profit_cents: Annotated[MoneyCents | None, Field(serialization_alias="profit")]
    clv: float | None
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class WagerSummary:
    bets: int
    open: int
    staked_cents: Annotated[MoneyCents, Field(serialization_alias="staked")]
    open_stakes_cents: Annotated[MoneyCents, Field(serialization_alias="open_stakes")]
    profit_cents: Annotated[MoneyCents, Field(serialization_alias="profit")]
    roi: Interval | None
    clv: Interval | None
    win_rate: Interval | None
    by_sport: tuple[BetRecord, ...]
    by_bet_type: tuple[BetRecord, ...]
    curve: Annotated[tuple[BalancePoint, ...], Field(serialization_alias="profit_history")]


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line of a file that was not imported, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class WagerImportReport:
    """The number of recorded wagers of a file, those recorded before, and the rejected lines."""

    recorded: int
    already_recorded: int
    rejected: tuple[RejectedLine, ...]


def parse_selection(draft: WagerRequest) -> Selection:
    """Return the selection of a wager.

    Raises InvalidSelection if it is invalid.
    """
    side = next((name for name in get_args(Side) if name == draft.side), None)
    if side is None:
        raise InvalidSelection(f"Invalid side {draft.side!r}. Use home, away, draw, over or under.")
    if is_prop(draft.market_key):
        return Selection(
            "prop", side, draft.point, slug(draft.participant or "") or None, draft.market_key
        )
    if draft.market_key not in MARKETS:
        raise InvalidSelection(
            f"Unknown market {draft.market_key!r}. Use {', '.join(MARKETS)} or a player market."
        )
    return Selection(draft.market_key, side, draft.point, draft.participant or None)


def parse_wager_file(content: bytes) -> Iterator[tuple[int, WagerRequest | str]]:
    """Yield the wagers of a CSV file by line, or the reason a line is invalid.

    The same line always has the same token, so that it is recorded once. Raises InvalidInput if the
    file has no valid header.
    """
    if len(content) > _MAX_BYTES:
        raise InvalidInput(
            f"The file is too large: {len(content):,} of at most {_MAX_BYTES:,} bytes."
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidInput("The file is not UTF-8 text.") from fault
    names, rows = _read(text)
    missing = [name for name in COLUMNS if name not in names]
    unknown = [name for name in names if name not in {*COLUMNS, *OPTIONAL}]
    if missing or unknown:
        raise InvalidInput(
            f"The header must name the columns {', '.join(COLUMNS)}; optional are "
            f"{', '.join(OPTIONAL)}. Missing: {', '.join(missing) or 'none'}. "
            f"Unknown: {', '.join(unknown) or 'none'}."
        )
    for number, cells in rows:
        try:
            yield number, _parse_row(dict(zip(names, cells, strict=False)))
        except (ValueError, InvalidOperation) as fault:
            yield number, str(fault)


def _read(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the column names and the nonempty lines by number."""
    reader = csv.reader(io.StringIO(text, newline=None), strict=True)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        return names, [(reader.line_num, cells) for cells in reader if any(cells)]
    except csv.Error as fault:
        raise InvalidInput(f"Invalid CSV at line {reader.line_num}: {fault}.") from fault


def _parse_row(row: dict[str, str]) -> WagerRequest:
    cell = dict.fromkeys(COLUMNS, "") | {name: value.strip() for name, value in row.items()}
    placed = cell.get("placed_at", "")
    return WagerRequest(
        game_id=cell["game_id"],
        market_key=cell["market"],
        side=cell["side"].lower(),
        price=_parse_price(cell["price"]),
        stake_cents=_parse_stake(cell["stake"]),
        point=_parse_decimal("point", cell["point"]) if cell.get("point") else None,
        bookmaker=cell.get("bookmaker", ""),
        placed_at=_parse_time(placed) if placed else None,
        note=cell.get("note", ""),
        participant=cell.get("participant") or None,
        token=cell.get("token") or "|".join(cell.get(name, "") for name in (*COLUMNS, *OPTIONAL)),
    )


def _parse_price(text: str) -> int:
    try:
        return int(text)
    except ValueError as fault:
        raise ValueError(f"Invalid American price {text!r}.") from fault


def _parse_stake(text: str) -> int:
    cents = _parse_decimal("stake", text.lstrip("$")) * _CENTS
    if cents != int(cents):
        raise ValueError(f"Invalid stake {text!r}. Use whole cents.")
    return int(cents)


def _parse_decimal(name: str, text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as fault:
        raise ValueError(f"Invalid {name} {text!r}. Use a number.") from fault
    if not value.is_finite() or abs(value.adjusted()) > _MAX_DIGITS:
        raise ValueError(f"The {name} {text!r} is out of range.")
    return value


def _parse_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise ValueError(
            f"Invalid placed_at {text!r}. Use a format such as 2026-02-11T14:00:00Z."
        ) from fault
    if moment.tzinfo is None:
        raise ValueError(f"placed_at {text!r} has no time zone. Append Z for UTC.")
    return moment.astimezone(UTC)


def wager_view(wager: Wager) -> WagerView:
    selection = decode_selection(wager.selection)
    return copy_as(
        WagerView,
        wager,
        side=selection.side or "",
        point=selection.point,
        participant=selection.participant,
        price=wager.odds,
        bookmaker=wager.bookmaker or "",
        note=wager.note or "",
        clv=None if wager.clv is None else float(wager.clv),
    )


def summarize_wagers(wagers: Sequence[Wager]) -> WagerSummary:
    """Summarize wagers; pushes and voids do not count for rates."""
    settled = [wager for wager in wagers if wager.status == "settled"]
    decided = [bet for bet in settled if bet.profit_cents]
    won = sum((prediction.profit_cents or 0) > 0 for prediction in decided)
    opened = [wager for wager in wagers if wager.status == "open"]
    return WagerSummary(
        len(wagers),
        len(opened),
        sum(bet.stake_cents for bet in settled),
        sum(wager.stake_cents for wager in opened),
        sum(bet.profit_cents or 0 for bet in settled),
        roi_interval([_money(bet) for bet in settled]),
        mean_interval([float(wager.clv) for wager in wagers if wager.clv is not None]),
        rate_interval(won, len(decided)),
        summarize_by_kind((bet.sport, *_money(bet)) for bet in settled),
        summarize_by_kind((bet.market_key, *_money(bet)) for bet in settled),
        _curve(settled),
    )


def _money(wager: Wager) -> tuple[int, int]:
    return wager.stake_cents, wager.profit_cents or 0


def _curve(settled: Iterable[Wager]) -> tuple[BalancePoint, ...]:
    points, total = [], 0
    for wager in sorted(settled, key=lambda bet: bet.settled_at or bet.placed_at):
        total += wager.profit_cents or 0
        points.append(BalancePoint(wager.settled_at or wager.placed_at, total))
    return tuple(points)


_MAX_STAKE_CENTS: Final = 100_000_000
_MAX_NOTE: Final = 500
_CLOCK_TOLERANCE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class WagerService:
    """Records what users bet elsewhere. Every wager is an entry in its owner's book."""

    db: Database
    ledger: LedgerService
    limits: LimitService
    publisher: Publisher
    events: Events

    async def list_wagers(
        self, caller: Caller, *, limit: int = 20, after: str | None = None
    ) -> Page[WagerView]:
        """Return the caller's wagers, latest games first."""
        page = await self.db.store.page(Wager.of_user(caller.user_id), limit, after=after)
        return Page(tuple(wager_view(item) for item in page.items), page.cursor)

    async def record(self, caller: Caller, draft: WagerRequest) -> WagerView:
        """Record a wager, once per token.

        Raises InvalidInput if it is invalid, NotFound if the game does not exist, and
        StakeLimitReached, LossLimitReached or TimeOutActive if a limit of the caller forbids it.
        """
        info = await self.db.store(GameInfo.of_game(draft.game_id))
        if info is None:
            raise NotFound(f"Game {draft.game_id!r} does not exist.")
        wager = self._wager(caller.user_id, draft, info)
        wager_row = await self.db.store(Wager.by_id(caller.user_id, wager.wager_id))
        if wager_row is None:
            wager_row = await self._post(wager, info)
        self.publisher.publish(
            f"bets/wagers/user/{caller.user_id}", {"recorded": wager_row.wager_id}
        )
        return wager_view(wager_row)

    async def _post(self, wager: Wager, info: GameInfo) -> Wager:
        limits, now = await self.limits.load(wager.user_id), self.db.now()
        book, key = user_book(wager.user_id), f"place:{wager.wager_id}"

        def step(state: BookState) -> LedgerStep:
            self.limits.check_stake(limits, state, wager.stake_cents, now)
            event = LedgerEvent(key, "place", now, transfer(PURSE, STAKES, wager.stake_cents))
            writes: list[Write] = [wager.record(), awaited_game(info).save()]
            lock = self.limits.unchanged_write(limits)
            if lock is not None:
                writes.append(lock)
            return LedgerStep((event,), writes, add_stake(state.usage, wager.stake_cents, now))

        posted = await self.ledger.post(book, key, step)
        if posted == "rejected":
            raise InvalidInput("The limits changed while the bet was recorded. Try again.")
        recorded = await self.db.store(Wager.by_id(wager.user_id, wager.wager_id))
        if recorded is None:
            raise InvalidInput("This bet was withdrawn before. Record it as a new bet.")
        return recorded

    def _wager(self, user_id: str, draft: WagerRequest, info: GameInfo) -> Wager:
        now = self.db.now()
        placed = (draft.placed_at or now).replace(microsecond=0)
        try:
            price = parse_american(draft.price)
            selection = parse_selection(draft)
        except (InvalidPrice, InvalidSelection) as fault:
            raise InvalidInput(str(fault)) from fault
        _check(draft, info, placed, now)
        return copy_as(
            Wager,
            info,
            user_id=user_id,
            wager_id=self._id(user_id, draft.token, info),
            market_key=draft.market_key,
            selection=encode_selection(selection),
            prediction=format_selection(selection, info.home_team, info.away_team),
            odds=price,
            stake_cents=draft.stake_cents,
            bookmaker=draft.bookmaker or None,
            note=draft.note or None,
            placed_at=placed,
        )

    def _id(self, user_id: str, token: str | None, info: GameInfo) -> str:
        """Return an id that sorts by the start of the game and is stable per token."""
        if token:
            end = hashlib.sha256(f"{user_id}\0{token}".encode()).hexdigest()[:20]
        else:
            end = self.db.new_id()
        return f"{info.commence_time:%Y%m%dT%H%M}-{end}"

    async def import_file(self, caller: Caller, content: bytes) -> WagerImportReport:
        """Record the wagers of a CSV file line by line.

        Raises InvalidInput if the file has no valid header.
        """
        recorded, already_recorded, rejected = 0, 0, []
        for number, draft in parse_wager_file(content):
            if isinstance(draft, str):
                rejected.append(RejectedLine(number, draft))
                continue
            before = (await self.ledger.state(user_book(caller.user_id))).head.seq
            try:
                await self.record(caller, draft)
            except GrandstandError as fault:
                rejected.append(RejectedLine(number, str(fault)))
                continue
            after = (await self.ledger.state(user_book(caller.user_id))).head.seq
            recorded += after > before
            already_recorded += after == before
        return WagerImportReport(recorded, already_recorded, tuple(rejected))

    async def remove(self, caller: Caller, wager_id: str) -> None:
        """Withdraw an open wager before its game starts.

        Raises NotFound if there is no such wager, Conflict if it is settled or its game has
        started.
        """
        wager, now = await self._load(caller, wager_id), self.db.now()
        if wager.status != "open" or wager.commence_time <= now:
            raise Conflict("The bet is settled or its game has started. It cannot be withdrawn.")
        key = f"withdraw:{wager.wager_id}"

        def step(state: BookState) -> LedgerStep:
            event = LedgerEvent(key, "withdraw", now, transfer(STAKES, PURSE, wager.stake_cents))
            return LedgerStep((event,), (wager.withdraw(),), add_stake(state.usage, 0, now))

        if await self.ledger.post(user_book(caller.user_id), key, step) == "rejected":
            raise Conflict("The bet was settled meanwhile. It cannot be withdrawn.")

    async def summary(self, caller: Caller) -> WagerSummary:
        wagers = [wager async for wager in self.db.each(Wager.of_user(caller.user_id))]
        return summarize_wagers(wagers)

    async def settle(self, ending: GameEnding) -> tuple[int, int]:
        """Settle all wagers on a game.

        Returns the number of settled wagers and the number that are still pending.
        """
        settled, pending = 0, 0
        for wager in [wager async for wager in self.db.each(Wager.of_game(ending.game_id))]:
            selection = decode_selection(wager.selection)
            verdict = ending.verdict(selection)
            if verdict is None or verdict.name == "pending":
                pending += 1
                continue
            if wager.verdict == verdict.name:
                continue
            closed = ending.closed(selection, wager.odds)
            outcome = pay_bet(verdict, wager.stake_cents, wager.odds)
            settled += await self._settle_one(wager, outcome, closed)
        return settled, pending

    async def _settle_one(self, indexed: Wager, outcome: Payout, closed: ClosingValue) -> bool:
        """Settle a wager, or reverse the previous settlement and settle it again."""
        wager = await self.db.store(Wager.by_id(indexed.user_id, indexed.wager_id))
        if wager is None or wager.verdict == outcome.verdict:
            return False
        now, book, revision = self.db.now(), user_book(wager.user_id), wager.revision + 1
        key = f"settle:{wager.wager_id}:{revision}"
        events: list[LedgerEvent] = []
        before = await self.ledger.entry(book, f"settle:{wager.wager_id}:{wager.revision}")
        if before is not None:
            back = reverse_postings(before.postings)
            events.append(
                LedgerEvent(f"reverse:{wager.wager_id}:{revision - 1}", "reverse", now, back, True)
            )
        paid = settlement_postings(wager.stake_cents, outcome, PURSE)
        events.append(LedgerEvent(key, "settle" if revision == 1 else "resettle", now, paid))
        gained = outcome.profit_cents - (wager.profit_cents or 0)
        news = self._settled_event(wager, outcome)

        def step(state: BookState) -> LedgerStep:
            row = wager.settle(
                now,
                "void" if outcome.status == "void" else "settled",
                outcome.verdict,
                payout_cents=outcome.payout_cents,
                profit_cents=outcome.profit_cents,
                closing=closed.fair,
                clv=closed.clv,
            )
            return LedgerStep(
                tuple(events), (row, news.put()), add_profit(state.usage, gained, now)
            )

        done = await self.ledger.post(book, key, step) == "posted"
        if done:
            topic = f"bets/wagers/user/{wager.user_id}"
            self.publisher.publish(topic, {"settled": wager.wager_id})
            self.events.publish(news)
        return done

    def _settled_event(self, wager: Wager, outcome: Payout) -> AppEvent:
        """Return the event that tells the owner about the result."""
        text = describe_result(
            "Your", wager.prediction, (wager.home_team, wager.away_team), outcome
        )
        href = f"/bets/games/{wager.game_id}"
        return self.events.create("bets", "settled", text, href, user_id=wager.user_id)

    async def _load(self, caller: Caller, wager_id: str) -> Wager:
        wager = await self.db.store(Wager.by_id(caller.user_id, wager_id))
        if wager is None:
            raise NotFound(f"Bet {wager_id!r} does not exist.")
        return wager


def _check(draft: WagerRequest, info: GameInfo, placed: datetime, now: datetime) -> None:
    """Raise InvalidInput if the wager cannot have been placed like this."""
    if not 0 < draft.stake_cents <= _MAX_STAKE_CENTS:
        raise InvalidInput(
            f"Invalid stake: {draft.stake_cents} cents. Use 1 cent to 1 million dollars."
        )
    if placed > now + _CLOCK_TOLERANCE:
        raise InvalidInput(f"The bet is dated in the future: {placed:%Y-%m-%d %H:%M} UTC.")
    if placed >= info.commence_time:
        raise InvalidInput(
            f"The game started at {info.commence_time:%Y-%m-%d %H:%M} UTC, before the bet."
        )
    if len(draft.note) > _MAX_NOTE or "#" in draft.bookmaker:
        raise InvalidInput(f"A note has at most {_MAX_NOTE} characters; a bookmaker contains no #.")
