"""Kept here: the horses people watch, and noticing when one is entered in a race."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

import msgspec

from grandstand.apps.keiba.model import RaceCard, ids
from grandstand.apps.keiba.model.errors import SitePaused
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.means import ENTERED, Means
from grandstand.apps.keiba.service.refusals import WatchRefused
from grandstand.apps.keiba.service.values import Entered, Watched, off_at
from grandstand.apps.keiba.store import Watch, Watching
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.kit.notify import Message
from grandstand.kit.outbox import Consequence

_LONGEST_NOTE: Final = 500
_MOST_HORSES: Final = 200


class _Body(msgspec.Struct):
    """What the outbox keeps of a horse that is entered."""

    user_id: str
    horse_id: str
    horse_name: str
    race_id: str
    race_name: str
    race_date: str | None
    track_name: str | None


class Watches:
    """Keeps who watches which horse, and looks for them on coming cards."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library

    async def watch(self, user_id: str, horse_id: str, note: str) -> Watched:
        """Watch a horse, or change the note of one watched."""
        text = note.strip()
        if len(text) > _LONGEST_NOTE:
            message = f"A note has {_LONGEST_NOTE} letters at most, not {len(text)}"
            raise WatchRefused(message)
        store = self._means.store
        known = await store(Watch.one(user_id, ids.horse_id(horse_id)))
        if known is None:
            known = await self._begun(user_id, horse_id)
        kept = known.replace(note=text)
        await store.all(kept.keep(), Watching(horse_id=horse_id, user_id=user_id).keep())
        return _watched(kept, ())

    async def unwatch(self, user_id: str, horse_id: str) -> bool:
        """Watch a horse no longer; False when it was not watched."""
        store = self._means.store
        if await store(Watch.one(user_id, ids.horse_id(horse_id))) is None:
            return False
        await store.all(Watch.end(user_id, horse_id), Watching.end(horse_id, user_id))
        return True

    async def watched(self, user_id: str) -> tuple[Watched, ...]:
        """Answer the horses a person watches, by name, with the coming races they are in."""
        kept = await self._means.store(Watch.of_user(user_id))
        coming = await self._entered({each.horse_id for each in kept}) if kept else {}
        ordered = sorted(kept, key=lambda each: each.horse_name)
        return tuple(_watched(each, coming.get(each.horse_id, ())) for each in ordered)

    async def look(self) -> int:
        """Note every watched horse that is entered, once for each person, horse and race."""
        people: dict[str, list[str]] = {}
        async for one in self._means.store.each(Watching.everybody()):
            people.setdefault(one.horse_id, []).append(one.user_id)
        if not people:
            return 0
        if self._means.settings.watch_fetches:
            await self._fetch_coming()
        noted = 0
        for card, race_date in await self._coming_cards():
            for runner in card.horses:
                for user_id in [] if runner.scratched else people.get(runner.horse_id, []):
                    body = _Body(
                        user_id,
                        runner.horse_id,
                        runner.horse_name,
                        card.race_id,
                        card.race_name,
                        race_date.isoformat(),
                        card.track_name,
                    )
                    known_by = f"{user_id}/{runner.horse_id}/{card.race_id}"
                    noted += await self._means.outbox.put(ENTERED, known_by, body)
        return noted

    async def tell(self, consequence: Consequence) -> None:
        """Tell a person that a horse they watch is entered, if they still watch it."""
        body = msgspec.json.decode(consequence.body, type=_Body)
        kept = await self._means.store(Watch.one(body.user_id, body.horse_id))
        if kept is None:
            return
        where = " ".join(filter(None, (body.track_name, body.race_date)))
        text = f"{body.horse_name} is entered in {body.race_name} ({where})"
        if kept.note:
            text = f"{text}. Your note: {kept.note}"
        href = f"/keiba/races/{body.race_id}"
        await self._means.events.record("keiba", "entered", text, href, user_id=body.user_id)
        message = Message("keiba", "entered", f"{body.horse_name} is entered", text, href)
        await self._means.notifier.tell(message, f"keiba/{consequence.idempotency_key}")

    async def _begun(self, user_id: str, horse_id: str) -> Watch:
        kept = await self._means.store(Watch.of_user(user_id))
        if len(kept) >= _MOST_HORSES:
            message = f"{_MOST_HORSES} horses are the most one can watch: leave some first"
            raise WatchRefused(message)
        name = (await self._library.profile(horse_id)).value.horse_name
        return Watch(
            user_id=user_id, horse_id=horse_id, horse_name=name, watched_at=self._means.now()
        )

    def _days(self) -> list[date]:
        today = self._means.today()
        return [today + timedelta(days=at) for at in range(self._means.settings.watch_days + 1)]

    async def _fetch_coming(self) -> None:
        """Fetch the coming national lists and cards that are not kept, as far as that goes."""
        try:
            known = (await self._library.meeting_days(self._means.today(), "jra")).value
            for day in (each for each in self._days() if each in known):
                for race in (await self._library.day(day, "jra")).value:
                    await self._fetch_card(race.race_id)
        except GrandstandError as fault:
            log("keiba").warning("coming cards are not all there", error=str(fault))

    async def _fetch_card(self, race_id: str) -> None:
        try:
            await self._library.race(race_id)
        except SitePaused:
            raise
        except GrandstandError as fault:
            log("keiba").info("a coming card is not there yet", race=race_id, error=str(fault))

    async def _coming_cards(self) -> list[tuple[RaceCard, date]]:
        """Answer the kept cards of races that are still to be run, by kept lists."""
        lists = await self._library.kept_days(self._days())
        now = self._means.clock.now()
        races = {
            race.race_id: day
            for (day, _), entries in lists.items()
            for race in entries
            if (off := off_at(day, race.post_time)) is None or off > now
        }
        keys = [self._library.forms.race.key(race_id=race_id) for race_id in races]
        found = await self._library.cache.get_many(keys)
        return [
            (cached.value.value, day)
            for cached, day in zip(found, races.values(), strict=True)
            if cached.value is not None
        ]

    async def _entered(self, horses: Iterable[str]) -> dict[str, tuple[Entered, ...]]:
        wanted = set(horses)
        entered: dict[str, tuple[Entered, ...]] = {}
        for card, day in await self._coming_cards():
            for runner in card.horses:
                if runner.horse_id in wanted and not runner.scratched:
                    off = off_at(day, card.post_time)
                    one = Entered(card.race_id, card.race_name, day, off, card.track_name)
                    entered[runner.horse_id] = (*entered.get(runner.horse_id, ()), one)
        return entered


def _watched(kept: Watch, entered: tuple[Entered, ...]) -> Watched:
    return Watched(kept.horse_id, kept.horse_name, kept.note, kept.watched_at, entered)
