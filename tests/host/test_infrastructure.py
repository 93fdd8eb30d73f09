"""What the platform stands on is made once, however many begin at the same time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from grandstand.host.infrastructure import platform_secret
from grandstand.host.settings import Settings

_AT_ONCE = 8


@pytest.mark.parametrize("_time", range(5))
def test_those_who_begin_together_have_one_secret_and_it_is_whole(
    tmp_path: Path, _time: int
) -> None:
    settings, begin = Settings(home=tmp_path / "home"), Barrier(_AT_ONCE)

    def begun() -> bytes:
        begin.wait()
        return platform_secret(settings)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = {each.result() for each in [pool.submit(begun) for _ in range(_AT_ONCE)]}

    assert [len(each) for each in found] == [32]
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["secret"]
