"""Kept here: small drawings beside figures: intervals with a mark, and bars that have a sign."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from grandstand.apps.bets.service import Interval

_WIDE: Final = 100.0


def interval_bar(
    interval: Interval | None, reach: tuple[float, float], mark: float | None, label: str
) -> Markup:
    """Draw where a figure lies, with its bounds, over a reach; the mark is what it is held against.

    Whatever lies wholly above the mark is good, wholly below bad, and all else undecided.
    """
    if interval is None:
        return Markup("")
    low, high = (_placed(end, reach) for end in (interval.low, interval.high))
    at = _placed(interval.value, reach)
    held = "" if mark is None else _mark(_placed(mark, reach))
    return Markup(
        '<svg class="interval {}" viewBox="0 0 100 12" preserveAspectRatio="none" role="img"'
        ' aria-label="{}"><path class="interval-ground" d="M0 6H100"/>'
        '<rect class="interval-span" x="{:.1f}" y="4" width="{:.1f}" height="4"/>{}'
        '<rect class="interval-value" x="{:.1f}" y="1" width="2" height="10"/></svg>'
    ).format(_tone(interval, mark), label, low, max(high - low, 0.5), held, min(at, 98.0))


def signed_bar(value: float, most: float) -> Markup:
    """Draw a contribution from the middle to the right, or, below nought, to the left."""
    size = 50 * min(abs(value) / most, 1.0) if most else 0.0
    return Markup(
        '<svg class="lever" viewBox="-50 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="lever-zero" d="M0 0V8"/>'
        '<rect class="{}" x="{:.2f}" y="1" width="{:.2f}" height="6"/></svg>'
    ).format("lever-for" if value > 0 else "lever-against", _left(value, size), size)


def share_bar(share: float, label: str) -> Markup:
    """Draw a share of one."""
    return Markup(
        '<svg class="chance" viewBox="0 0 100 6" preserveAspectRatio="none" role="img"'
        ' aria-label="{}"><rect class="chance-ground" width="100" height="6"/>'
        '<rect class="chance-fill" width="{:.1f}" height="6"/></svg>'
    ).format(label, _WIDE * min(max(share, 0.0), 1.0))


def _left(value: float, size: float) -> float:
    return -size if value < 0 else 0.0


def _placed(value: float, reach: tuple[float, float]) -> float:
    low, high = reach
    return _WIDE * min(max((value - low) / (high - low), 0.0), 1.0)


def _mark(at: float) -> Markup:
    return Markup('<path class="interval-mark" d="M{0:.1f} 0V12"/>').format(at)


def _tone(interval: Interval, mark: float | None) -> str:
    if mark is None or interval.low <= mark <= interval.high:
        return "interval-open"
    return "interval-good" if interval.low > mark else "interval-bad"
