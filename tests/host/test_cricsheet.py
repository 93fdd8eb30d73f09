"""A match as cricsheet writes it is told as the score feed would."""

from pathlib import Path

import pytest

from grandstand.host.cricsheet import cricsheet_answers
from grandstand.simulators.scores.match_record import InvalidRecording

TAPE = Path(__file__).parents[2] / "src/grandstand/simulators/scores/tapes/1178424.json"


def test_a_match_goes_from_before_its_start_to_its_end() -> None:
    answers = list(cricsheet_answers(TAPE.read_bytes()))

    times, rows = [at for at, _ in answers], [row for _, row in answers]
    assert times == sorted(times)
    assert (rows[0]["status"], rows[-1]["status"]) == ("NS", "Finished")
    assert len(rows[-1]["balls"]) == 51  # type: ignore[arg-type]


def test_what_is_no_match_is_refused() -> None:
    with pytest.raises(InvalidRecording):
        list(cricsheet_answers(b'{"info": {}, "innings": []}'))
