"""A new application is entered once, in its place, whatever the length of its name."""

import pytest

from grandstand.host.scaffold.entering import ENTRIES, ForeignLayout
from grandstand.host.scaffold.naming import named
from tests.host.scaffold.copying import ROOT


@pytest.mark.parametrize("file", ENTRIES)
@pytest.mark.parametrize("name", ["abc", "tides", "zzzzzzzzzzzzzzzz"])
def test_what_is_entered_is_not_entered_again(file: str, name: str) -> None:
    before = (ROOT / file).read_text(encoding="utf-8")

    once = ENTRIES[file](before, named(name))

    assert once != before
    assert ENTRIES[file](once, named(name)) == once
    assert max(len(line) for line in once.splitlines()) <= 120


@pytest.mark.parametrize("name", ["abc", "dogs", "zzz"])
def test_imports_stay_sorted(name: str) -> None:
    file = "src/grandstand/host/catalogue.py"

    text = ENTRIES[file]((ROOT / file).read_text(encoding="utf-8"), named(name))

    lines = [line for line in text.splitlines() if line.startswith("from grandstand.apps")]
    assert lines == sorted(lines)
    assert f"CARD as {name.upper()}" in text


@pytest.mark.parametrize("file", ENTRIES)
def test_a_file_that_looks_otherwise_is_refused(file: str) -> None:
    with pytest.raises(ForeignLayout):
        ENTRIES[file]("import everything\n", named("tides"))
