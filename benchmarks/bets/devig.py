"""Markets devigged per second, compared with penaltyblog."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness.rows import Row, Times
from benchmarks.harness.timing import per_second
from grandstand.apps.bets.domain.odds import DEVIG_METHODS, DevigMethod, devig, devig_rows

_PEER = "penaltyblog"
_MARKETS = 100_000
_ONE_BY_ONE = 2_000
_REPEATS = 5


def rows() -> list[Row]:
    """Every method over three-way markets, all at once and one by one; the peer where it is."""
    prices = markets(_MARKETS)
    few = prices[:_ONE_BY_ONE].tolist()
    beside = find_spec(_PEER) is not None
    if not beside:
        sys.stderr.write(f"grandstand: NOT MEASURED, there is no {_PEER}\n")
    measured = []
    for method in DEVIG_METHODS:
        peers = {_PEER: _by_peer(few, method)} if beside else {}
        measured.append(_together(prices, few, method, peers))
        measured.append(
            Row(
                f"fair by {method}, one market at a time",
                "markets/s",
                _singly(few, method),
                peers,
            )
        )
    return measured


def markets(count: int) -> npt.NDArray[np.float64]:
    """Three-way prices with margins from 1 % to 9 %."""
    chance = np.random.default_rng(9)
    fair = chance.dirichlet([4.0, 2.5, 3.0], count)
    booked = fair * (1.0 + chance.uniform(0.01, 0.09, (count, 1)))
    return 1.0 / np.clip(booked, 0.01, 0.97)


def _together(
    prices: npt.NDArray[np.float64],
    few: list[list[float]],
    method: DevigMethod,
    peers: dict[str, float],
) -> Row:
    if peers:
        _agree(devig_rows(prices, method)[: len(few)], few, method)
    at_once = f"fair by {method}, {len(prices):,} three-way markets at once"
    return Row(
        at_once if peers else f"{at_once} ({_PEER} NOT MEASURED)",
        "markets/s",
        per_second(lambda: devig_rows(prices, method), count=len(prices), repeats=_REPEATS),
        peers,
        aim=Times(10, _PEER) if peers else None,
    )


def _agree(answer: npt.NDArray[np.float64], few: list[list[float]], method: DevigMethod) -> None:
    theirs = np.array([_peer_fair(each, method) for each in few])
    close = float(np.abs(answer - theirs)[(theirs > 0.0).all(axis=1)].max())
    assert close < 1e-9, f"{method} differs by {close}"


def _singly(few: list[list[float]], method: DevigMethod) -> float:
    return per_second(lambda: [devig(each, method) for each in few], count=len(few))


def _by_peer(few: list[list[float]], method: DevigMethod) -> float:
    return per_second(lambda: [_peer_fair(each, method) for each in few], count=len(few), repeats=3)


def _peer_fair(market: list[float], method: DevigMethod) -> list[float]:
    implied: Any = import_module("penaltyblog.implied")
    fair: list[float] = implied.calculate_implied(market, method=method).probabilities
    return fair
