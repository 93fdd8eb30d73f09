"""Kept here: everything the trainer can do, one method each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from grandstand.apps.trainer.model import Difficulty, Judgement
from grandstand.apps.trainer.model.scenarios import ScenarioDraft
from grandstand.apps.trainer.service.answers import drafted, final
from grandstand.apps.trainer.service.attempts import Attempts
from grandstand.apps.trainer.service.belongings import TrainerBelongings
from grandstand.apps.trainer.service.exports import as_csv, as_json
from grandstand.apps.trainer.service.forecasts import forecast_record, has_forecast
from grandstand.apps.trainer.service.group import GroupView
from grandstand.apps.trainer.service.judging import Judging
from grandstand.apps.trainer.service.means import Means
from grandstand.apps.trainer.service.profiles import Profiles
from grandstand.apps.trainer.service.progress import Tried, progress_of
from grandstand.apps.trainer.service.refusals import AttemptNotFound
from grandstand.apps.trainer.service.scenarios import Scenarios, for_practice, of_difficulty
from grandstand.apps.trainer.service.suggesting import suggested
from grandstand.apps.trainer.service.values import (
    AttemptPage,
    AttemptView,
    Comparison,
    ForecastRecord,
    Given,
    Group,
    Loaded,
    Offered,
    ProfilePage,
    Progress,
    Rebuilt,
    Report,
    Suggestion,
)
from grandstand.apps.trainer.store import Attempt, Profile, Scenario
from grandstand.kit.app import Calibrated, Found
from grandstand.kit.calibration import Said
from grandstand.kit.sought import MOST, nearest
from grandstand.kit.who.caller import Caller
from grandstand.storage.tables.changes import AsyncChangeFeed

_LOOKED_AT: Final = 100
_REPORTED: Final = 100
_PER_CENT: Final = 100


class Trainer:
    """Scenarios to practise on, attempts that are judged, and the profile that follows.

    A caller sees their own attempts only: those of others are not found, whoever asks, except by
    the methods for instructors, whose callers the ways in have to check.
    """

    def __init__(self, means: Means) -> None:
        self.settings = means.settings
        self.cursors = means.cursors
        self.belongings = TrainerBelongings(means)
        self._means = means
        self._scenarios = Scenarios(means)
        self._attempts = Attempts(means, self._scenarios)
        self._judging = Judging(means, self._scenarios)
        self._profiles = Profiles(means, self._scenarios)
        self._group = GroupView(means, self._scenarios)

    def now(self) -> datetime:
        """Answer the present moment as attempts keep it."""
        return self._means.now()

    async def scenarios(
        self, caller: Caller, difficulty: Difficulty | None = None
    ) -> tuple[Offered, ...]:
        """Answer what is on offer, easiest first, with how far the caller has come with each.

        Progress is that of the caller's last hundred attempts.
        """
        tried = await self._tried(caller)
        kept = of_difficulty(await self._scenarios.active(), difficulty)
        return tuple(
            Offered(for_practice(each), tried.get(each.scenario_id, Progress())) for each in kept
        )

    async def scenario(self, caller: Caller, scenario_id: str) -> Offered:
        """Answer one scenario on offer and the caller's progress; raise ScenarioNotFound."""
        found = await self._scenarios.offered(scenario_id)
        tried = await self._tried(caller)
        return Offered(for_practice(found), tried.get(scenario_id, Progress()))

    async def load_scenarios(self, drafts: Sequence[ScenarioDraft]) -> Loaded:
        """Write what is new or changed of these scenarios; the same again writes nothing."""
        return await self._scenarios.load(drafts)

    async def search(self, sought: str) -> tuple[Found, ...]:
        """Answer the scenarios on offer some words are about, those whose titles are, first."""
        kept = await self._scenarios.active()
        named = nearest(sought, kept, lambda one: (one.title, *one.tags))
        described = nearest(sought, kept, lambda one: (one.title, *one.tags, one.description))
        found = dict.fromkeys(one.scenario_id for one in (*named, *described))
        known = {one.scenario_id: one for one in kept}
        return tuple(_found(known[each]) for each in found)[:MOST]

    async def calibration(self, caller: Caller) -> tuple[Calibrated, ...]:
        """Answer the caller's forecasts whose outcome is known."""
        said = tuple(
            Said(one.probability_percent / _PER_CENT, one.happened)
            for one in (await self.forecasts(caller)).points
            if one.happened is not None
        )
        what = "What you said of scenarios whose outcome is known"
        return (Calibrated("yours", "Your forecasts", what, "/trainer/profile", said),)

    async def suggestion(self, caller: Caller) -> Suggestion | None:
        """Answer the scenario the caller may try next, and why; None when none is on offer."""
        profile = await self._profiles.latest(caller.user_id)
        weak = [] if profile is None else [each.dimension for each in profile.weaknesses]
        tried = {name for name, how in (await self._tried(caller)).items() if how.state != "draft"}
        found = suggested(await self._scenarios.active(), weak, tried)
        return None if found is None else Suggestion(for_practice(found.scenario), found.reason)

    async def begin(
        self,
        caller: Caller,
        scenario_id: str,
        given: Given | None = None,
        client_token: str | None = None,
    ) -> Attempt:
        """Begin a draft; the same token begins it once.

        Raises ScenarioNotFound, AnswerRefused, ClientTokenReused.
        """
        begun = given or Given()
        return await self._attempts.begin(caller.user_id, scenario_id, begun, client_token)

    async def save(self, caller: Caller, attempt_id: str, given: Given) -> Attempt:
        """Keep what is written so far; raise AttemptNotFound, WrongState and AnswerRefused."""
        return await self._attempts.save(caller.user_id, attempt_id, given)

    async def post(
        self, caller: Caller, scenario_id: str, given: Given, client_token: str | None = None
    ) -> Attempt:
        """Hand in a whole attempt, and answer it judged, or waiting when that takes longer.

        The same token hands it in once. Raises ScenarioNotFound, AnswerRefused, ClientTokenReused.
        """
        work = await self._attempts.post(caller.user_id, scenario_id, given, client_token)
        return await self._judging.evaluate_soon(work)

    async def submit(self, caller: Caller, attempt_id: str, given: Given | None = None) -> Attempt:
        """Hand in a draft, and answer it judged, or waiting when that takes longer.

        Raises AttemptNotFound, AnswerRefused, and WrongState when it was given up.
        """
        work = await self._attempts.submit(caller.user_id, attempt_id, given)
        return await self._judging.evaluate_soon(work)

    async def evaluate(self, attempt_id: str) -> Attempt | None:
        """Have a submitted attempt judged, whoever's it is; None when there is nothing to judge.

        Raises Unavailable, SourceFailed or LimitReached when the judge cannot.
        """
        return await self._judging.evaluate(attempt_id)

    def waiting(self) -> AsyncIterator[Attempt]:
        """Answer every submitted attempt that is not judged yet, whoever's it is."""
        return self._judging.waiting()

    async def judge(self, scenario_id: str, given: Given) -> Judgement:
        """Judge answers that are not kept; raise ScenarioNotFound, AnswerRefused, Unavailable."""
        scenario = await self._scenarios.offered(scenario_id)
        answers = drafted(scenario, given.answers, self.settings.answer_chars)
        return await self._judging.judge(scenario, final(scenario, answers, given.answers))

    async def second_opinion(self, caller: Caller, attempt_id: str) -> Attempt:
        """Ask the other judge about a judged attempt, once.

        Raises AttemptNotFound, WrongState, NoSecondJudge, and what the judge raises.
        """
        attempt = await self._attempts.read(caller.user_id, attempt_id)
        return await self._judging.second_opinion(attempt)

    async def abandon(self, caller: Caller, attempt_id: str) -> Attempt:
        """Give a draft up; raise AttemptNotFound and WrongState."""
        return await self._attempts.abandon(caller.user_id, attempt_id)

    async def delete(self, caller: Caller, attempt_id: str) -> None:
        """Take an attempt away for good; the profile follows. Raise AttemptNotFound."""
        await self._attempts.delete(caller.user_id, attempt_id)

    async def revise(
        self, caller: Caller, attempt_id: str, client_token: str | None = None
    ) -> Attempt:
        """Begin a draft from a judged attempt's answers.

        Raises AttemptNotFound, ScenarioNotFound, WrongState and ClientTokenReused.
        """
        return await self._attempts.revise(caller.user_id, attempt_id, client_token)

    async def comparison(self, caller: Caller, attempt_id: str) -> Comparison:
        """Answer a judged revision beside what it revises; raise AttemptNotFound, WrongState."""
        return await self._attempts.comparison(caller.user_id, attempt_id)

    async def attempt(self, caller: Caller, attempt_id: str) -> AttemptView:
        """Answer an attempt with its scenario, and the notes once it is submitted.

        Raises AttemptNotFound.
        """
        return await self._view(await self._attempts.read(caller.user_id, attempt_id))

    async def attempts(
        self, caller: Caller, limit: int = 20, position: str | None = None
    ) -> AttemptPage:
        """Answer the caller's attempts, newest first, from a position on."""
        return await self._attempts.page(caller.user_id, limit, position)

    async def profile(self, caller: Caller, user_id: str = "me") -> Profile | None:
        """Answer the latest profile; None before the first judged attempt.

        Raises AttemptNotFound for another person's, unless the caller is an administrator.
        """
        return await self._profiles.latest(_whose(caller, user_id))

    async def profile_history(
        self, caller: Caller, user_id: str = "me", limit: int = 50, position: str | None = None
    ) -> ProfilePage:
        """Answer profiles, newest first, from a position on; raise as `profile` does."""
        return await self._profiles.page(_whose(caller, user_id), limit, position)

    async def forecasts(self, caller: Caller) -> ForecastRecord:
        """Answer the caller's forecasts, what came of them, and how good they were."""
        attempts = [
            each async for each in self._attempts.each(caller.user_id) if has_forecast(each)
        ]
        return forecast_record(attempts, await self._known(attempts))

    def export_json(self, caller: Caller) -> AsyncIterator[bytes]:
        """Answer the caller's attempts and profiles as one JSON document, a piece at a time."""
        profiles = self._means.each(Profile.history(caller.user_id))
        return as_json(self._attempts.each(caller.user_id), profiles, self._means.now())

    async def export_csv(self, caller: Caller) -> AsyncIterator[bytes]:
        """Answer the caller's attempts as lines of CSV."""
        titles = {each.scenario_id: each.title for each in await self._scenarios.active()}
        async for line in as_csv(self._attempts.each(caller.user_id), titles):
            yield line

    async def report(self, caller: Caller) -> Report:
        """Answer what a printed report says, with the last hundred attempts."""
        page = await self._attempts.page(caller.user_id, _REPORTED, None)
        known = await self._known(page.attempts)
        return Report(
            name=caller.name,
            made_at=self._means.now(),
            profile=await self._profiles.latest(caller.user_id),
            attempts=page.attempts,
            titles={name: each.title for name, each in known.items()},
            forecasts=await self.forecasts(caller),
        )

    def follow(self) -> AsyncChangeFeed[Attempt]:
        """Begin to read the changes of attempts from where reading stopped."""
        return self._profiles.feed()

    async def catch_up(self, feed: AsyncChangeFeed[Attempt]) -> int:
        """Let profiles follow all that changed; answer how many changes that were.

        Raises PositionStale when somebody else follows by now.
        """
        return await self._profiles.catch_up(feed)

    async def rebuild(self, user_id: str) -> Rebuilt:
        """Recount a person's attempts and make their profile anew; answer what differed."""
        return await self._profiles.rebuild(user_id)

    async def rebuild_all(self) -> tuple[Rebuilt, ...]:
        """Rebuild everybody."""
        return await self._profiles.rebuild_all()

    async def group(self) -> Group:
        """Answer everybody's attempts seen together; for instructors."""
        return await self._group.look()

    async def reviewed(self, attempt_id: str) -> AttemptView:
        """Answer anybody's submitted attempt; for instructors. Raise AttemptNotFound."""
        return await self._view(await self._group.read(attempt_id))

    async def override(
        self, caller: Caller, attempt_id: str, scores: Mapping[str, int], reason: str
    ) -> Attempt:
        """Put an instructor's scores in place of the judge's, and keep both with the reason.

        Raises AttemptNotFound, WrongState and AnswerRefused.
        """
        return await self._group.override(caller.user_id, attempt_id, scores, reason)

    async def _tried(self, caller: Caller) -> Tried:
        page = await self._attempts.page(caller.user_id, _LOOKED_AT, None)
        return progress_of(page.attempts)

    async def _view(self, attempt: Attempt) -> AttemptView:
        found = await self._scenarios.find(attempt.scenario_id)
        if found is not None and attempt.submitted_at is None:
            found = for_practice(found)
        return AttemptView(attempt, found)

    async def _known(self, attempts: Sequence[Attempt]) -> dict[str, Scenario]:
        names = {each.scenario_id for each in attempts}
        found = {name: await self._scenarios.find(name) for name in sorted(names)}
        return {name: each for name, each in found.items() if each is not None}


def _found(scenario: Scenario) -> Found:
    detail = f"{scenario.difficulty.capitalize()}, about {scenario.estimated_minutes} min"
    return Found("scenario", scenario.title, detail, f"/trainer/scenarios/{scenario.scenario_id}")


def _whose(caller: Caller, user_id: str) -> str:
    if user_id in ("me", caller.user_id):
        return caller.user_id
    if not caller.admin:
        message = f"You know no person {user_id}"
        raise AttemptNotFound(message)
    return user_id
