"""Access patterns of the trainer's tables."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.trainer.domain.evaluation import Answer, Override
from grandstand.apps.trainer.domain.scenarios import DIFFICULTIES
from grandstand.apps.trainer.store import TABLES, Attempt, Profile, Scenario, UserTotals
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled
from tests.apps.trainer.records import (
    ANSWERS,
    COMPLETED,
    DRAFT,
    EVALUATION,
    JUDGED,
    MORNING,
    PROFILE,
    SCENARIO,
)

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create(TABLES)


def test_an_attempt_goes_from_draft_to_evaluated(store: Store) -> None:
    store(DRAFT.begin())
    saved = store(Attempt.save_draft("a1", "ada", ANSWERS, 600))

    waiting = store(Attempt.submit("a1", "ada", ANSWERS, MORNING + MINUTE))
    done = store(Attempt.complete("a1", EVALUATION))

    assert (saved.answers, saved.duration_seconds, saved.status) == (ANSWERS, 600, "in-progress")
    assert (waiting.evaluation_state, waiting.submitted_at) == ("pending", MORNING + MINUTE)
    assert waiting.timestamp == MORNING + MINUTE
    assert (done.status, done.evaluation, done.evaluation_state) == ("completed", EVALUATION, None)


def test_an_attempt_begins_once(store: Store) -> None:
    store(DRAFT.begin())

    with pytest.raises(ConditionFailed):
        store(DRAFT.replace(user_id="bob").begin())


def test_only_its_owner_changes_a_draft(store: Store) -> None:
    store(DRAFT.begin())
    strange = (
        Attempt.save_draft("a1", "bob", ANSWERS, 1),
        Attempt.submit("a1", "bob", ANSWERS, JUDGED),
        Attempt.abandon("a1", "bob"),
        Attempt.erase("a1", "bob"),
    )

    for change in strange:
        with pytest.raises(ConditionFailed):
            store(change)

    assert store(Attempt.by_id("a1")) == DRAFT


def test_what_was_handed_in_stays_as_it_was(store: Store) -> None:
    store(DRAFT.begin())
    handed_in = store(Attempt.submit("a1", "ada", ANSWERS, MORNING))
    late = (Answer("q1", "What is assumed?", "Something better", 2),)

    for change in (
        Attempt.save_draft("a1", "ada", late, 1),
        Attempt.submit("a1", "ada", late, JUDGED),
        Attempt.abandon("a1", "ada"),
    ):
        with pytest.raises(ConditionFailed):
            store(change)

    assert store(Attempt.by_id("a1")) == handed_in


def test_a_draft_cannot_be_completed(store: Store) -> None:
    store(DRAFT.begin())

    with pytest.raises(ConditionFailed):
        store(Attempt.complete("a1", EVALUATION))


def test_an_attempt_counts_once(store: Store) -> None:
    store(DRAFT.begin())
    store(Attempt.submit("a1", "ada", ANSWERS, MORNING))
    writes = (Attempt.complete("a1", EVALUATION), UserTotals.count("ada", 78))

    store.all(*writes)
    with pytest.raises(TransactionCancelled):
        store.all(*writes)

    totals = store.read(UserTotals.of_user("ada"))
    assert (totals.attempt_count, totals.score_sum) == (1, 78)


def test_a_deleted_attempt_is_counted_no_more(store: Store) -> None:
    store(COMPLETED.put())
    store(UserTotals(user_id="ada", attempt_count=3, score_sum=200).recount(0))

    store.all(Attempt.erase("a1", "ada"), UserTotals.uncount("ada", 78))

    totals = store.read(UserTotals.of_user("ada"))
    assert (totals.attempt_count, totals.score_sum) == (2, 122)
    assert store(Attempt.by_id("a1")) is None


def test_a_persons_attempts_come_newest_first(store: Store) -> None:
    mine = [
        COMPLETED.replace(attempt_id=f"a{n}", timestamp=MORNING + n * MINUTE) for n in range(12)
    ]
    others = COMPLETED.replace(attempt_id="b1", user_id="bob")
    store.write_many(each.put() for each in (*mine, others))

    everything = store(Attempt.of_user("ada"))
    recent = store(Attempt.recent("ada"))

    assert [each.attempt_id for each in everything] == [f"a{n}" for n in range(11, -1, -1)]
    assert recent == everything[:10]


def test_the_later_revision_of_two_profiles_of_one_moment_stays(store: Store) -> None:
    first, later = PROFILE.replace(revision=15), PROFILE.replace(revision=16, attempt_count=14)
    earlier = PROFILE.replace(timestamp=MORNING, revision=14)

    for profile in (earlier, first, later):
        store(profile.record())

    for late in (first, later):
        with pytest.raises(ConditionFailed):
            store(late.record())
    assert store(Profile.latest("ada")) == [later]
    assert store(Profile.history("ada")) == [later, earlier]


def test_a_profile_is_kept_only_while_the_totals_are_those_it_was_made_from(store: Store) -> None:
    store(UserTotals.count("ada", 78))
    totals = store.read(UserTotals.of_user("ada"))
    store(UserTotals.count("ada", 50))

    with pytest.raises(TransactionCancelled):
        store.all(PROFILE.replace(revision=totals.revision).record(), totals.unchanged())

    assert store(Profile.history("ada")) == []


def test_a_withdrawn_attempt_has_no_answers_and_no_scores(store: Store) -> None:
    store(COMPLETED.put())

    gone = store(Attempt.withdraw(COMPLETED, JUDGED))

    assert (gone.answers, gone.evaluation, gone.status) == ((), None, "abandoned")
    with pytest.raises(ConditionFailed):
        store(Attempt.withdraw(COMPLETED, JUDGED))


def test_scores_that_were_changed_meanwhile_are_not_withdrawn_as_they_were(store: Store) -> None:
    store(COMPLETED.put())
    better = replace(EVALUATION, overall_score=90)
    store(Attempt.override(COMPLETED, better, Override("root", JUDGED, "why", (), ())))

    with pytest.raises(ConditionFailed):
        store(Attempt.withdraw(COMPLETED, JUDGED))

    assert store.read(Attempt.by_id("a1")).evaluation == better


def test_a_persons_profiles_can_be_erased(store: Store) -> None:
    store.write_many((PROFILE.put(), PROFILE.replace(user_id="bob").put()))

    store(Profile.erase("ada", (PROFILE.timestamp,)))

    assert store(Profile.history("ada")) == []
    assert len(store(Profile.history("bob"))) == 1


def test_scenarios_are_listed_while_they_are_active(store: Store) -> None:
    made = [SCENARIO.replace(scenario_id=each, difficulty=each) for each in DIFFICULTIES]
    store.write_many(each.put() for each in made)

    withdrawn = store(Scenario.update(scenario_id="advanced").set(active=False))

    assert {each.scenario_id for each in store(Scenario.all_active())} == {
        "beginner",
        "intermediate",
    }
    assert (withdrawn.active, withdrawn.difficulty) == (False, "advanced")
    assert store(Scenario.of_difficulty("advanced")) == []
    assert store(Scenario.of_difficulty("beginner")) == made[:1]


def test_a_withdrawn_scenario_can_be_offered_again(store: Store) -> None:
    store(SCENARIO.replace(active=False).load())

    before = store(Scenario.all_active())
    store(Scenario.update(scenario_id="s1").set(active=True, difficulty="beginner"))

    assert before == []
    assert store(Scenario.all_active()) == [SCENARIO]


def test_a_scenario_without_tags_is_stored_without_them(store: Store) -> None:
    plain = SCENARIO.replace(tags=frozenset())

    store(plain.load())

    assert "tags" not in Scenario.__plan__.encode(plain)
    assert store(Scenario.by_id("s1")) == plain
