"""The estimate of a day grows with what is chosen and with what is kept."""

from grandstand.apps.gatherer.model.rates import DAY, bytes_a_day, days_left, estimated


def test_a_busier_market_writes_more_than_a_quiet_one() -> None:
    quiet, busy = estimated([0]), estimated([10_000_000])

    sizes = (quiet.baked_bytes(tape=False), busy.baked_bytes(tape=False))

    assert 0 < sizes[0] < sizes[1]
    assert busy.trades == 2500


def test_markets_add_up() -> None:
    both = estimated([400_000, 800_000])

    parts = [estimated([400_000]), estimated([800_000])]

    assert both.frames == sum(part.frames for part in parts)
    assert both.hot_bytes() == sum(part.hot_bytes() for part in parts)


def test_the_tape_costs_something_for_each_frame() -> None:
    rates = estimated([400_000])

    more = rates.baked_bytes(tape=True) - rates.baked_bytes(tape=False)

    assert more == 26 * rates.frames


def test_a_measured_stretch_is_carried_to_a_day() -> None:
    daily = bytes_a_day(1000, DAY // 24)

    assert daily == 24_000
    assert bytes_a_day(1000, 0) == 0


def test_space_lasts_for_whole_days_or_for_ever() -> None:
    lasting = (days_left(100, 30), days_left(100, 0))

    assert lasting == (3, None)
