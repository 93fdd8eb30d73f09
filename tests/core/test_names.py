"""camelCase names."""

from grandstand.core.formatting import camel_case


def test_a_name_is_written_in_camel_case() -> None:
    assert [camel_case(each) for each in ("seq", "match_id", "last_30_balls")] == [
        "seq",
        "matchId",
        "last30Balls",
    ]
