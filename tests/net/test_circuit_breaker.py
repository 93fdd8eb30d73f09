"""The circuit breaker: opening, growing pauses and single probes."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.net.circuit_breaker import BreakerPolicy, CircuitBreaker
from grandstand.net.errors import CircuitOpen

BREAKING = BreakerPolicy(failures=2, rest_seconds=10, longest_seconds=25)


class FaultError(Exception):
    pass


class UnsentError(Exception):
    pass


def _try(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    with breaker.guard((FaultError,), (UnsentError,)):
        _raise(error)


def _raise(error: BaseException | None) -> None:
    if error is not None:
        raise error


def _fail(breaker: CircuitBreaker) -> None:
    with pytest.raises(FaultError):
        _try(breaker, FaultError())


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = CircuitBreaker("x", BREAKING, ManualClock())

    _fail(breaker)
    _try(breaker)
    _fail(breaker)

    assert breaker.state == "closed"


def test_rests_double_up_to_the_longest_and_begin_anew_after_a_success() -> None:
    clock = ManualClock()
    breaker = CircuitBreaker("x", BREAKING, clock)
    rests = []

    _fail(breaker)
    for _ in range(4):
        _fail(breaker)
        rests.append(breaker.rest_seconds)
        clock.advance(breaker.rest_seconds)
    _try(breaker)
    _fail(breaker)
    _fail(breaker)

    assert rests == [10, 20, 25, 25]
    assert breaker.rest_seconds == 10


def test_requests_under_way_when_the_rest_begins_do_not_lengthen_it() -> None:
    breaker = CircuitBreaker("x", BREAKING, ManualClock())
    faults = (FaultError,), (UnsentError,)

    with (
        pytest.raises(FaultError),
        breaker.guard(*faults),
        breaker.guard(*faults),
        breaker.guard(*faults),
        breaker.guard(*faults),
    ):
        raise FaultError

    assert breaker.rest_seconds == 10


def test_one_tries_while_the_others_wait() -> None:
    clock = ManualClock()
    breaker = CircuitBreaker("x", BREAKING, clock)
    _fail(breaker)
    _fail(breaker)
    clock.advance(10)

    trial = breaker.guard((FaultError,), (UnsentError,))
    with trial, pytest.raises(CircuitOpen, match="one request is probing it now"):
        _try(breaker)

    assert breaker.state == "closed"


@pytest.mark.parametrize("ending", [UnsentError(), KeyboardInterrupt()])
def test_a_trial_that_was_never_sent_leaves_the_place_to_the_next(ending: BaseException) -> None:
    clock = ManualClock()
    breaker = CircuitBreaker("x", BREAKING, clock)
    _fail(breaker)
    _fail(breaker)
    clock.advance(10)

    with pytest.raises(type(ending)):
        _try(breaker, ending)

    assert breaker.state == "half-open"
    breaker.check()


def test_an_error_that_is_not_the_sources_shows_that_it_is_alive() -> None:
    clock = ManualClock()
    breaker = CircuitBreaker("x", BREAKING, clock)
    _fail(breaker)
    _fail(breaker)
    clock.advance(10)

    with pytest.raises(LookupError):
        _try(breaker, LookupError())

    assert breaker.state == "closed"
