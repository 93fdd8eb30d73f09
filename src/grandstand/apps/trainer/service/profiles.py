"""Kept here: profiles that follow attempts, whichever order and however often they are told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grandstand.apps.trainer.model.profiles import (
    Judged,
    Standing,
    overall_average,
    recommendations,
    standing,
)
from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.service.means import Means
from grandstand.apps.trainer.service.scenarios import Scenarios
from grandstand.apps.trainer.service.suggesting import in_words, suggested
from grandstand.apps.trainer.service.values import ProfilePage, Rebuilt
from grandstand.apps.trainer.store import Attempt, Profile, UserTotals
from grandstand.base.errors import Unavailable
from grandstand.base.log import log
from grandstand.storage.tables.changes import AsyncChangeFeed, Batch, follow_async
from grandstand.storage.tables.errors import ChangesLost, ConditionFailed, StoredItemInvalid
from grandstand.storage.tables.requests import Change

FOLLOWER: Final = "trainer-profiles"
_TRIES: Final = 8
_INDEX_LAG_SECONDS: Final = 0.25


class ProfileUnsettled(Unavailable):
    """A person's attempts keep changing, or the index lags, so that no profile can be made now."""


class Profiles:
    """Keeps every person's latest profile true of their attempts.

    A profile is always worked out from what is kept at that moment, and kept only if the totals
    have not moved meanwhile: who hears of a change late, twice, or out of order, or dies half way,
    does no harm, as long as somebody hears of it again.
    """

    def __init__(self, means: Means, scenarios: Scenarios) -> None:
        self._means = means
        self._scenarios = scenarios

    async def latest(self, user_id: str) -> Profile | None:
        """Answer a person's profile as it is now; None before the first judged attempt."""
        found = await self._means.store(Profile.latest(user_id))
        return found[0] if found else None

    async def page(self, user_id: str, limit: int, position: str | None) -> ProfilePage:
        """Answer a person's profiles, newest first, from a position on."""
        page = await self._means.store.page(Profile.history(user_id), limit, after=position)
        return ProfilePage(page.items, page.cursor)

    def feed(self) -> AsyncChangeFeed[Attempt]:
        """Begin to read the changes of attempts from where reading stopped."""
        return follow_async(self._means.store, Attempt, name=FOLLOWER, invalid=_skipped)

    async def catch_up(self, feed: AsyncChangeFeed[Attempt]) -> int:
        """Let profiles follow all that changed since; answer how many changes that were.

        Raises PositionStale when somebody else follows by now.
        """
        followed = 0
        try:
            async for batch in feed.batches():
                await self.take(batch)
                await feed.done(batch)
                followed += len(batch.changes)
        except ChangesLost:
            log("trainer").warning("changes of attempts were lost; all profiles are made anew")
            await feed.restart(self.rebuild_all)
        return followed

    async def take(self, batch: Batch[Attempt]) -> None:
        """Let profiles follow the changes of one batch, then clear away what was taken back."""
        await self.heed([change.new for change in batch.changes if change.new is not None])

    async def heed(self, told: Iterable[Attempt]) -> None:
        """Let profiles follow these attempts, which may be told late, twice or out of order."""
        seen = {each.attempt_id: each for each in told if _concerns_profiles(each)}
        for user_id in sorted({each.user_id for each in seen.values()}):
            try:
                await self.update(user_id)
            except ProfileUnsettled:
                await self.rebuild(user_id)
        for each in seen.values():
            if each.withdrawn_at is not None:
                await self._clear(each)

    async def update(self, user_id: str) -> Profile | None:
        """Make a person's latest profile true; None when nothing of theirs is judged.

        Raises ProfileUnsettled when their attempts do not come to rest.
        """
        for _ in range(_TRIES):
            totals = await self._means.store(UserTotals.of_user(user_id))
            if totals is None:
                return None
            latest = await self.latest(user_id)
            if latest is not None and latest.revision == totals.revision:
                return latest
            judged = await self._newest(user_id)
            stand = standing(judged, self._means.settings.window)
            if not self._whole(judged, totals):
                await self._means.sleep(_INDEX_LAG_SECONDS)
                continue
            if stand is None:
                await self._forget(user_id, totals.revision)
                return None
            profile = await self._profile(totals, stand, judged)
            if await self._kept(profile, totals):
                return profile
        message = f"The attempts of {user_id} do not come to rest; their profile is made later"
        raise ProfileUnsettled(message)

    async def rebuild(self, user_id: str) -> Rebuilt:
        """Count a person's attempts anew, mend their totals, and make their profile anew.

        Answers what differed. Raises ProfileUnsettled when they are being changed.
        """
        for _ in range(_TRIES):
            kept = await self._means.store(UserTotals.of_user(user_id))
            first, again = await self._counted(user_id), await self._counted(user_id)
            known = (0, 0) if kept is None else (kept.attempt_count, kept.score_sum)
            if first != again:
                continue
            if known == again:
                return await self._remade(user_id, again[0], ())
            revision = 0 if kept is None else kept.revision
            if await self._mended(user_id, again, revision):
                said = f"the totals said {_told(known)}, the attempts say {_told(again)}"
                return await self._remade(user_id, again[0], (said,))
        message = f"The attempts of {user_id} are changing: rebuild later"
        raise ProfileUnsettled(message)

    async def rebuild_all(self) -> tuple[Rebuilt, ...]:
        """Rebuild everybody who has totals or attempts."""
        people = {each.user_id async for each in self._means.each(UserTotals.of_everybody())}
        async for attempt in self._means.each(Attempt.all_there_are()):
            if attempt.withdrawn_at is not None:
                await self._clear(attempt)
            elif attempt.status == "completed":
                people.add(attempt.user_id)
        return tuple([await self.rebuild(user_id) for user_id in sorted(people)])

    async def _remade(self, user_id: str, count: int, differences: tuple[str, ...]) -> Rebuilt:
        before = await self.latest(user_id)
        totals = await self._means.store(UserTotals.of_user(user_id))
        if totals is not None and before is not None and before.revision == totals.revision:
            stand = standing(await self._newest(user_id), self._means.settings.window)
            if stand is None or not _agree(before, totals, stand):
                differences = (*differences, "the profile was not that of the attempts")
                await self._forget(user_id, totals.revision)
        elif totals is not None and (before is not None or count):
            differences = (*differences, "the profile had not followed yet")
        await self.update(user_id)
        return Rebuilt(user_id, count, differences)

    async def _counted(self, user_id: str) -> tuple[int, int]:
        count = total = 0
        async for each in self._means.each(Attempt.of_user(user_id)):
            judged = _judged(each)
            if judged is not None:
                count, total = count + 1, total + judged.overall_score
        return count, total

    async def _mended(self, user_id: str, counted: tuple[int, int], revision: int) -> bool:
        count, total = counted
        totals = UserTotals(
            user_id=user_id, attempt_count=count, score_sum=total, revision=revision + 1
        )
        try:
            await self._means.store(totals.recount(revision))
        except ConditionFailed:
            return False
        return True

    async def _newest(self, user_id: str) -> list[Judged]:
        """Read the last judged attempts, twice the window, as they are by now.

        An index may lag, so it only says which they are.
        """
        most, store = 2 * self._means.settings.window, self._means.store
        found: list[Attempt] = []
        position = None
        while len(found) < most:
            page = await store.page(Attempt.of_user(user_id), most, after=position)
            found += [each for each in page.items if each.status == "completed"]
            position = page.cursor
            if position is None:
                break
        if store.store.session.engine.remote:
            gets = [Attempt.by_id(each.attempt_id) for each in found[:most]]
            found = [each for each in await store.get_many(gets) if each is not None]
        judged = [_judged(each) for each in found[:most]]
        return [each for each in judged if each is not None]

    def _whole(self, judged: list[Judged], totals: UserTotals) -> bool:
        """Whether the attempts read are those the totals count, as far as that can be told."""
        most = 2 * self._means.settings.window
        if len(judged) != min(most, totals.attempt_count):
            return False
        everything = totals.attempt_count <= most
        return not everything or sum(j.overall_score for j in judged) == totals.score_sum

    async def _profile(self, totals: UserTotals, stand: Standing, judged: list[Judged]) -> Profile:
        tried = {each.scenario_id for each in judged}
        weak = [each.dimension for each in stand.weaknesses]
        suggestion = suggested(await self._scenarios.active(), weak, tried)
        words = None if suggestion is None else in_words(suggestion)
        return Profile(
            user_id=totals.user_id,
            timestamp=stand.taken_at,
            attempt_count=totals.attempt_count,
            dimensions=stand.dimensions,
            weaknesses=stand.weaknesses,
            improvements=stand.improvements,
            recommendations=recommendations(stand.weaknesses, words),
            overall_average=overall_average(totals.score_sum, totals.attempt_count),
            source_attempt_id=stand.source_attempt_id,
            digest=stand.digest,
            revision=totals.revision,
        )

    async def _kept(self, profile: Profile, totals: UserTotals) -> bool:
        """Keep a snapshot, and none that claims to be later; False when the totals moved."""
        user_id, store = profile.user_id, self._means.store
        if not await self._means.wrote(profile.record(), totals.unchanged()):
            there = await store(Profile.at(user_id, profile.timestamp))
            if there is None or there.revision != totals.revision:
                return False
        later = await store(Profile.after(user_id, profile.timestamp))
        await self._erase(user_id, later, totals.revision)
        self._means.teller.tell(f"trainer/profile/user/{user_id}", {"changed": True})
        return True

    async def _forget(self, user_id: str, revision: int) -> None:
        kept = await self._means.store(Profile.history(user_id))
        await self._erase(user_id, kept, revision)

    async def _erase(self, user_id: str, kept: Iterable[Profile], revision: int) -> None:
        """Remove snapshots, but for those of later totals, which somebody else has made."""
        old = [each.timestamp for each in kept if (each.revision or 0) <= revision]
        if old:
            await self._means.store(Profile.erase(user_id, tuple(old)))

    async def _clear(self, told: Attempt) -> None:
        """Remove what is left of an attempt that was taken back."""
        try:
            await self._means.store(Attempt.erase(told.attempt_id, told.user_id))
        except ConditionFailed:
            return


def _concerns_profiles(attempt: Attempt) -> bool:
    return attempt.status == "completed" or attempt.withdrawn_at is not None


def _agree(profile: Profile, totals: UserTotals, stand: Standing) -> bool:
    average = overall_average(totals.score_sum, totals.attempt_count)
    said = (profile.digest, profile.timestamp, profile.attempt_count, profile.overall_average)
    return said == (stand.digest, stand.taken_at, totals.attempt_count, average)


def _told(counted: tuple[int, int]) -> str:
    return f"{counted[0]} attempts and {counted[1]} points"


def _judged(attempt: Attempt) -> Judged | None:
    """Answer what a profile looks at; None for an attempt without scores in all dimensions."""
    evaluation = attempt.evaluation
    if attempt.status != "completed" or evaluation is None:
        return None
    scores = {each.name: each.score for each in evaluation.dimensions}
    if scores.keys() != set(NAMES):
        return None
    return Judged(
        attempt_id=attempt.attempt_id,
        scenario_id=attempt.scenario_id,
        submitted_at=attempt.submitted_at or attempt.timestamp,
        evaluated_at=evaluation.evaluated_at,
        overall_score=evaluation.overall_score,
        scores=scores,
    )


def _skipped(change: Change, fault: StoredItemInvalid) -> None:
    log("trainer").error("an attempt cannot be read", keys=dict(change.keys), error=str(fault))
