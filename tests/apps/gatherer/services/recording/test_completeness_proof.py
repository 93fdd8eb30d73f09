"""Up to when a connection is proven to have told all, from the numbers of its subscriptions."""

from grandstand.apps.gatherer.services.recording.connections import SubscriptionProgress

S = 1_000_000


def test_a_subscription_that_went_on_since_a_mark_is_whole_up_to_it() -> None:
    proof = SubscriptionProgress(10 * S)
    proof.mark(20 * S, {4: (7, 0)})

    proven, quiet = proof.proven_until({4: (8, 0)})

    assert (proven, quiet) == (20 * S, [])


def test_one_that_is_quiet_is_whole_up_to_where_it_was_and_has_to_be_asked() -> None:
    proof = SubscriptionProgress(10 * S)
    proof.mark(20 * S, {4: (7, 0), 5: (3, 0)})
    proof.proven_until({4: (8, 0), 5: (4, 0)})
    proof.mark(30 * S, {4: (8, 0), 5: (4, 0)})

    proven, quiet = proof.proven_until({4: (9, 0), 5: (4, 0)})

    assert (proven, quiet) == (20 * S, [5])


def test_an_answer_that_comes_after_it_was_asked_proves_the_mark_before() -> None:
    proof = SubscriptionProgress(10 * S)
    proof.mark(20 * S, {4: (7, 0)})
    proof.proven_until({4: (7, 0)})
    proof.mark(30 * S, {4: (8, 0)})

    proven, quiet = proof.proven_until({4: (8, 0)})

    assert (proven, quiet) == (20 * S, [4])


def test_nothing_is_proven_after_the_last_delta_told() -> None:
    proof = SubscriptionProgress(10 * S)
    proof.mark(20 * S, {4: (7, 19 * S)})

    proven, _ = proof.proven_until({4: (8, 19 * S + 5)})

    assert proven == 19 * S + 5
