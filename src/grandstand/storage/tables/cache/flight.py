"""Kept here: single flight within a process: of many who want the same, one goes and all share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import CancelledError, Future
from threading import Lock
from typing import Any, TypeVar

R = TypeVar("R")


class Flights:
    """Flights of threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flying: dict[Hashable, Future[Any]] = {}

    def fly(
        self,
        what: Hashable,
        act: Callable[[], R],
        alone: Callable[[], R],
        wait_seconds: float,
    ) -> tuple[R, bool]:
        """Do `act`, or wait for whoever is doing it; answer also whether it was another's.

        After the wait `alone` is done instead. An error of the act is everybody's; an interrupt
        is only its own thread's, and the next in line takes over.
        """
        while True:
            with self._lock:
                flight = self._flying.get(what)
                leads = flight is None
                if flight is None:
                    flight = self._flying[what] = Future()
            if leads:
                return self._lead(what, flight, act), False
            try:
                return flight.result(wait_seconds), True
            except CancelledError:
                continue
            except TimeoutError as late:
                if flight.done() and not flight.cancelled() and flight.exception() is late:
                    raise
                return alone(), False

    def _lead(self, what: Hashable, flight: Future[R], act: Callable[[], R]) -> R:
        try:
            answer = act()
        except Exception as fault:
            self._land(what)
            flight.set_exception(fault)
            raise
        except BaseException:
            self._land(what)
            flight.cancel()
            raise
        self._land(what)
        flight.set_result(answer)
        return answer

    def _land(self, what: Hashable) -> None:
        with self._lock:
            del self._flying[what]


class AsyncFlights:
    """Flights of the tasks of one event loop."""

    def __init__(self) -> None:
        self._flying: dict[Hashable, asyncio.Future[Any]] = {}

    async def fly(
        self,
        what: Hashable,
        act: Callable[[], Awaitable[R]],
        alone: Callable[[], Awaitable[R]],
        wait_seconds: float,
    ) -> tuple[R, bool]:
        """Do `act`, or wait for whoever is doing it, as `Flights.fly` does for threads."""
        while (flight := self._flying.get(what)) is not None:
            await asyncio.wait([flight], timeout=wait_seconds)
            if not flight.done():
                return await alone(), False
            if not flight.cancelled():
                return flight.result(), True
        flight = self._flying[what] = asyncio.get_running_loop().create_future()
        return await self._lead(what, flight, act), False

    async def _lead(
        self, what: Hashable, flight: asyncio.Future[R], act: Callable[[], Awaitable[R]]
    ) -> R:
        try:
            answer = await act()
        except Exception as fault:
            flight.set_exception(fault)
            flight.exception()
            raise
        except BaseException:
            flight.cancel()
            raise
        else:
            flight.set_result(answer)
            return answer
        finally:
            del self._flying[what]
