"""Kept here: the tracks, their courses, and which of them race when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Circuit: TypeAlias = Literal["jra", "nar"]
Surface: TypeAlias = Literal["turf", "dirt", "jump"]

LETTER: Final[dict[Surface, str]] = {"turf": "芝", "dirt": "ダ", "jump": "障"}
GOINGS: Final = ("良", "稍重", "重", "不良")


@dataclass(frozen=True, slots=True)
class Track:
    """One track; its code is part of every race id."""

    code: str
    name: str
    circuit: Circuit
    turn: str
    turf: tuple[int, ...] = ()
    dirt: tuple[int, ...] = ()
    jump: tuple[int, ...] = ()

    def distances(self, surface: Surface) -> tuple[int, ...]:
        """Answer the distances run on a surface."""
        return {"turf": self.turf, "dirt": self.dirt, "jump": self.jump}[surface]


_JRA: Final = (
    Track("01", "札幌", "jra", "右", (1200, 1500, 1800, 2000), (1000, 1700), (2900,)),
    Track("02", "函館", "jra", "右", (1200, 1800, 2000), (1000, 1700), (2800,)),
    Track("03", "福島", "jra", "右", (1200, 1800, 2000), (1150, 1700), (2770,)),
    Track("04", "新潟", "jra", "左", (1000, 1400, 1600, 2000), (1200, 1800), (2890,)),
    Track("05", "東京", "jra", "左", (1400, 1600, 1800, 2400), (1400, 1600, 2100), (3110,)),
    Track("06", "中山", "jra", "右", (1200, 1600, 2000, 2500), (1200, 1800), (2910, 3210)),
    Track("07", "中京", "jra", "左", (1200, 1600, 2000), (1400, 1800), (3000,)),
    Track("08", "京都", "jra", "右", (1200, 1600, 2000, 2400), (1200, 1800), (2910, 3170)),
    Track("09", "阪神", "jra", "右", (1200, 1600, 1800, 2200), (1400, 1800), (2970, 3140)),
    Track("10", "小倉", "jra", "右", (1200, 1800, 2000), (1000, 1700), (2860,)),
)
_NAR: Final = (
    Track("30", "門別", "nar", "右", dirt=(1000, 1200, 1700)),
    Track("35", "盛岡", "nar", "左", turf=(1600, 1700), dirt=(1200, 1600, 1800)),
    Track("36", "水沢", "nar", "右", dirt=(1300, 1400, 1600)),
    Track("42", "浦和", "nar", "左", dirt=(1400, 1500, 2000)),
    Track("43", "船橋", "nar", "左", dirt=(1200, 1600, 1800)),
    Track("44", "大井", "nar", "右", dirt=(1200, 1400, 1600, 1800)),
    Track("45", "川崎", "nar", "左", dirt=(900, 1400, 1500, 2100)),
    Track("46", "金沢", "nar", "右", dirt=(1400, 1500, 1700)),
    Track("47", "笠松", "nar", "右", dirt=(1400, 1600)),
    Track("48", "名古屋", "nar", "右", dirt=(920, 1500, 1700)),
    Track("50", "園田", "nar", "右", dirt=(1230, 1400, 1700)),
    Track("51", "姫路", "nar", "右", dirt=(1400, 1500, 1800)),
    Track("54", "高知", "nar", "右", dirt=(1300, 1400, 1600)),
    Track("55", "佐賀", "nar", "右", dirt=(1300, 1400, 1800)),
)
TRACKS: Final = {track.code: track for track in (*_JRA, *_NAR)}

# Four weeks each: the first two race on both days of the weekend, the third on Sundays.
BLOCKS: Final = (
    ("06", "08", "10"),
    ("05", "08", "10"),
    ("06", "09", "07"),
    ("06", "09", "03"),
    ("05", "08", "04"),
    ("05", "08", "02"),
    ("03", "10", "02"),
    ("04", "07", "01"),
    ("04", "10", "01"),
    ("06", "09", "07"),
    ("05", "08", "04"),
    ("05", "08", "03"),
    ("06", "09", "07"),
)
# Monday to Sunday; the week's number picks one of each.
ROTA: Final = (
    (("42", "44"), ()),
    (("43", "45"), ()),
    (("44", "42", "45"), ("50", "51")),
    (("45", "43"), ()),
    (("44", "48", "47", "46"), ()),
    (("54", "36"), ()),
    (("55", "35", "30"), ()),
)
