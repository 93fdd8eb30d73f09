"""Our names are written as others read them."""

from grandstand.base.names import camel


def test_a_name_is_written_in_camel_case() -> None:
    assert [camel(each) for each in ("seq", "match_id", "last_30_balls")] == [
        "seq",
        "matchId",
        "last30Balls",
    ]
