"""Watched horses, and alerts when one is entered in a race."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import SiteCoolingDown
from grandstand.apps.keiba.domain.races import RaceCard
from grandstand.apps.keiba.services.page_cache import (
    PageCache,
    now_to_second,
    start_time,
    today_in_japan,
)
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.store import HorseWatcher, Watch
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, InvalidInput
from grandstand.core.logging import get_logger
from grandstand.kit.auth.caller import Caller
from grandstand.kit.events import Events
from grandstand.kit.notify import Notification, Notifier
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import AsyncStore

ENTRY_TOPIC: Final = "keiba.entry"

_MAX_NOTE_LENGTH: Final = 500
_MAX_HORSES: Final = 200


@dataclass(frozen=True, slots=True)
class UpcomingEntry:
    """A race a watched horse is entered in, according to cached cards."""

    race_id: str
    race_name: str
    race_date: date | None
    off_at: datetime | None
    track_name: str | None


@dataclass(frozen=True, slots=True)
class WatchedHorse:
    """A watched horse with the person's note and its upcoming entries."""

    horse_id: str
    horse_name: str
    note: str
    watched_at: datetime
    entries: tuple[UpcomingEntry, ...] = ()


class _EntryMessage(msgspec.Struct):
    """Body of an entry message in the outbox."""

    user_id: str
    horse_id: str
    horse_name: str
    race_id: str
    race_name: str
    race_date: str | None
    track_name: str | None


@dataclass(kw_only=True)
class Watchlist:
    """Stores who watches which horse, and looks for these horses on upcoming cards."""

    store: AsyncStore
    pages: PageCache
    outbox: Outbox
    events: Events
    notifier: Notifier
    clock: Clock
    settings: KeibaSettings

    async def watch(self, caller: Caller, horse_id: str, note: str = "") -> WatchedHorse:
        """Watch a horse, or change the note of a watched one.

        Raises InvalidInput for a note that is too long or too many horses, and what fetching the
        horse's profile raises.
        """
        text = note.strip()
        if len(text) > _MAX_NOTE_LENGTH:
            raise InvalidInput(
                f"The note has {len(text)} characters. At most {_MAX_NOTE_LENGTH} are allowed."
            )
        watch = await self.store(Watch.by_horse(caller.user_id, ids.horse_id(horse_id)))
        if watch is None:
            watch = await self._new_watch(caller.user_id, horse_id)
        watch = watch.replace(note=text)
        index = HorseWatcher(horse_id=horse_id, user_id=caller.user_id)
        await self.store.all(watch.save(), index.save())
        return _watched_horse(watch, ())

    async def unwatch(self, caller: Caller, horse_id: str) -> bool:
        """Stop watching a horse; return False if it was not watched."""
        if await self.store(Watch.by_horse(caller.user_id, ids.horse_id(horse_id))) is None:
            return False
        await self.store.all(
            Watch.remove(caller.user_id, horse_id), HorseWatcher.remove(horse_id, caller.user_id)
        )
        return True

    async def horses(self, caller: Caller) -> tuple[WatchedHorse, ...]:
        """Return the caller's watched horses by name, with their upcoming entries."""
        watches = await self.store(Watch.of_user(caller.user_id))
        entries = await self._entries(watch.horse_id for watch in watches) if watches else {}
        return tuple(
            _watched_horse(watch, entries.get(watch.horse_id, ()))
            for watch in sorted(watches, key=lambda watch: watch.horse_name)
        )

    async def check_entries(self) -> int:
        """Write one message per person, watched horse and race; return how many are new.

        The lists and cards of the next days are fetched if the settings allow it and anybody
        watches a horse.
        """
        watchers: dict[str, list[str]] = {}
        async for watcher in self.store.each(HorseWatcher.all_watchers()):
            watchers.setdefault(watcher.horse_id, []).append(watcher.user_id)
        if not watchers:
            return 0
        if self.settings.watch_fetches:
            await self._fetch_upcoming()
        written = 0
        for card, race_date in await self._upcoming_cards():
            for runner in card.horses:
                for user_id in [] if runner.scratched else watchers.get(runner.horse_id, []):
                    body = _EntryMessage(
                        user_id,
                        runner.horse_id,
                        runner.horse_name,
                        card.race_id,
                        card.race_name,
                        race_date.isoformat(),
                        card.track_name,
                    )
                    key = f"{user_id}/{runner.horse_id}/{card.race_id}"
                    written += await self.outbox.put(ENTRY_TOPIC, key, body)
        return written

    async def deliver(self, message: OutboxMessage) -> None:
        """Notify a person of an entry, if they still watch the horse."""
        body = msgspec.json.decode(message.body, type=_EntryMessage)
        watch = await self.store(Watch.by_horse(body.user_id, body.horse_id))
        if watch is None:
            return
        where = " ".join(filter(None, (body.track_name, body.race_date)))
        text = f"{body.horse_name} is entered in {body.race_name} ({where})"
        if watch.note:
            text = f"{text}. Your note: {watch.note}"
        href = f"/keiba/races/{body.race_id}"
        await self.events.record("keiba", "entry", text, href, user_id=body.user_id)
        notification = Notification("keiba", "entry", f"{body.horse_name} is entered", text, href)
        await self.notifier.send(notification, f"keiba/{message.idempotency_key}")

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield a person's watched horses as plain records."""
        async for watch in self.store.each(Watch.of_user(user_id)):
            yield (
                "watched horse",
                {
                    "horseId": watch.horse_id,
                    "horseName": watch.horse_name,
                    "note": watch.note,
                    "watchedAt": watch.watched_at.isoformat(),
                },
            )

    async def erase(self, user_id: str) -> int:
        """Erase a person's watched horses and return how many there were."""
        watches = [watch async for watch in self.store.each(Watch.of_user(user_id))]
        for watch in watches:
            await self.store.all(
                Watch.remove(user_id, watch.horse_id), HorseWatcher.remove(watch.horse_id, user_id)
            )
        return len(watches)

    async def _new_watch(self, user_id: str, horse_id: str) -> Watch:
        if len(await self.store(Watch.of_user(user_id))) >= _MAX_HORSES:
            raise InvalidInput(f"You already watch {_MAX_HORSES} horses. Remove one first.")
        name = (await self.pages.profile(horse_id)).value.horse_name
        now = now_to_second(self.clock)
        return Watch(user_id=user_id, horse_id=horse_id, horse_name=name, watched_at=now)

    def _days(self) -> Iterable[date]:
        today = today_in_japan(self.clock)
        return [today + timedelta(days=at) for at in range(self.settings.watch_days + 1)]

    async def _fetch_upcoming(self) -> None:
        """Fetch the JRA lists and cards of the next days that are not cached yet."""
        try:
            today = today_in_japan(self.clock)
            racing_days = (await self.pages.meeting_days(today, "jra")).value
            for day in (each for each in self._days() if each in racing_days):
                for race in (await self.pages.day(day, "jra")).value:
                    await self._fetch_card(race.race_id)
        except GrandstandError as error:
            get_logger("keiba").warning("upcoming_cards_incomplete", error=str(error))

    async def _fetch_card(self, race_id: str) -> None:
        try:
            await self.pages.race(race_id)
        except SiteCoolingDown:
            raise
        except GrandstandError as error:
            get_logger("keiba").info("card_unavailable", race_id=race_id, error=str(error))

    async def _upcoming_cards(self) -> list[tuple[RaceCard, date]]:
        """Return the cached cards of races that have not started, with their dates."""
        lists = await self.pages.cached_days(self._days())
        now = self.clock.now()
        dates = {
            race.race_id: day
            for (day, _), entries in lists.items()
            for race in entries
            if (off_at := start_time(day, race.post_time)) is None or off_at > now
        }
        cards = await self.pages.cached_cards([*dates])
        return [
            (card, day) for card, day in zip(cards, dates.values(), strict=True) if card is not None
        ]

    async def _entries(self, horse_ids: Iterable[str]) -> dict[str, tuple[UpcomingEntry, ...]]:
        wanted = set(horse_ids)
        entries: dict[str, tuple[UpcomingEntry, ...]] = {}
        for card, day in await self._upcoming_cards():
            for runner in card.horses:
                if runner.horse_id in wanted and not runner.scratched:
                    off_at = start_time(day, card.post_time)
                    entry = UpcomingEntry(
                        card.race_id, card.race_name, day, off_at, card.track_name
                    )
                    entries[runner.horse_id] = (*entries.get(runner.horse_id, ()), entry)
        return entries


def _watched_horse(watch: Watch, entries: tuple[UpcomingEntry, ...]) -> WatchedHorse:
    return WatchedHorse(watch.horse_id, watch.horse_name, watch.note, watch.watched_at, entries)
