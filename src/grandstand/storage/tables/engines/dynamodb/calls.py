"""Kept here: the one place that calls the service, waits and tries again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol, TypeAlias

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.engines.dynamodb.failures import Failure, failure
from grandstand.storage.tables.errors import ConditionFailed, StoreUnavailable

Shape: TypeAlias = dict[str, Any]

_METERED: Final = frozenset(
    (
        "get_item",
        "put_item",
        "update_item",
        "delete_item",
        "query",
        "scan",
        "batch_get_item",
        "batch_write_item",
        "transact_get_items",
        "transact_write_items",
    )
)


class Meter(Protocol):
    """Who wants to know what calls cost."""

    def consumed(self, operation: str, table: str, units: float) -> None:
        """Take note of the capacity units one call used on one table."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a failed call is tried again, and how long is waited in between.

    A wait is a random part of `first_seconds`, doubled with every try up to `longest_seconds`.
    Nothing is tried again after `total_seconds`.
    """

    attempts: int = 8
    first_seconds: float = 0.05
    longest_seconds: float = 2.0
    total_seconds: float = 30.0


@dataclass(slots=True)
class Tries:
    """Counts the tries of one piece of work, and waits between them."""

    clock: Clock
    random: Random
    patience: Patience
    started: float
    made: int = 1

    def again(self) -> bool:
        """Wait before the next try; answer False at once when there is to be none."""
        patience = self.patience
        if self.made >= patience.attempts:
            return False
        most = min(patience.longest_seconds, patience.first_seconds * 2 ** (self.made - 1))
        wait = self.random.uniform(0, most)
        if self.clock.monotonic() - self.started + wait > patience.total_seconds:
            return False
        self.made += 1
        self.clock.sleep(wait)
        return True


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls one of the service's clients, patiently, and raises our errors only."""

    client: Any
    clock: Clock
    random: Random
    patience: Patience = Patience()
    meter: Meter | None = None

    def send(
        self,
        operation: str,
        parameters: Shape,
        *,
        repeatable: bool = True,
        confirm: Callable[[], Shape | None] | None = None,
    ) -> Shape:
        """Call once, and again while it may pass; answer what the service answered.

        A call whose answer was lost may have been carried out. Unless `repeatable` it is not
        tried again: StoreUnavailable says that the outcome is unknown. When it is tried again and
        its condition fails, perhaps because of the first try, `confirm` is asked what the call
        would have answered had it been carried out; None means it was not.
        """
        if self.meter is not None and operation in _METERED:
            parameters = {**parameters, "ReturnConsumedCapacity": "TOTAL"}
        doubt = False
        tries = self.tries()
        while True:
            failed = self._attempt(operation, parameters)
            if not isinstance(failed, Failure):
                return failed
            if doubt and confirm is not None and isinstance(failed.error, ConditionFailed):
                answer = confirm()
                if answer is not None:
                    return answer
            doubt = doubt or failed.doubtful
            if failed.doubtful and not repeatable:
                raise _unknown_outcome(failed.error) from failed.error
            if not failed.retry or not tries.again():
                raise failed.error

    def tries(self) -> Tries:
        """Start counting the tries of one piece of work."""
        return Tries(self.clock, self.random, self.patience, self.clock.monotonic())

    def _attempt(self, operation: str, parameters: Shape) -> Shape | Failure:
        try:
            answer: Shape = getattr(self.client, operation)(**parameters)
        except GrandstandError:
            raise
        except Exception as fault:  # noqa: BLE001 - every fault of the client's is translated here
            failed = failure(fault)
            failed.error.__cause__ = fault
            return failed
        if self.meter is not None:
            self._note(operation, answer)
        return answer

    def _note(self, operation: str, answer: Shape) -> None:
        assert self.meter is not None  # noqa: S101 - asked by the only caller
        spent = answer.get("ConsumedCapacity") or ()
        for one in (spent,) if isinstance(spent, dict) else spent:
            self.meter.consumed(operation, one["TableName"], float(one["CapacityUnits"]))


def _unknown_outcome(error: GrandstandError) -> StoreUnavailable:
    return StoreUnavailable(
        f"{error}; whether the write was carried out is not known, and it cannot be repeated "
        "without harm: read the item before trying again"
    )
