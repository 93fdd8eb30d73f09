"""Estimates of the rows and bytes per day."""

from grandstand.apps.gatherer.services.markets import days_left, estimate_daily_rows


def test_a_busier_market_writes_more_than_a_quiet_one() -> None:
    quiet, busy = estimate_daily_rows([0]), estimate_daily_rows([10_000_000])

    sizes = (quiet.compacted_bytes(raw_log=False), busy.compacted_bytes(raw_log=False))

    assert 0 < sizes[0] < sizes[1]
    assert busy.trades == 2500


def test_markets_add_up() -> None:
    both = estimate_daily_rows([400_000, 800_000])

    parts = [estimate_daily_rows([400_000]), estimate_daily_rows([800_000])]

    assert both.frames == sum(part.frames for part in parts)
    assert both.hot_bytes() == sum(part.hot_bytes() for part in parts)


def test_the_raw_log_costs_something_for_each_frame() -> None:
    rates = estimate_daily_rows([400_000])

    more = rates.compacted_bytes(raw_log=True) - rates.compacted_bytes(raw_log=False)

    assert more == 26 * rates.frames


def test_space_lasts_for_whole_days_or_for_ever() -> None:
    lasting = (days_left(100, 30), days_left(100, 0))

    assert lasting == (3, None)
