"""Horses, ancestors, jockeys and trainers with their true abilities, and generated names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.racecourses import Circuit, Surface
from grandstand.simulators.racing.rng import hash_slot, seeded_random


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(text: str) -> list[list[str]]:
    return [pair.split(":") for pair in text.split()]


_FIRST: Final = _pairs("""
アオ:Ao アカネ:Akane アルト:Alto イズミ:Izumi ウミノ:Umino エルム:Elm オルカ:Orca カゲロ:Kagero
カナタ:Kanata キララ:Kirara クオン:Kuon グラン:Gran コハク:Kohaku コズエ:Kozue サザン:Southern
サツキ:Satsuki シノノ:Shinono シズク:Shizuku スバル:Subaru セレス:Ceres ソラノ:Sorano
タカネ:Takane チトセ:Chitose ツバサ:Tsubasa テンノ:Tenno トキワ:Tokiwa ナギサ:Nagisa
ニシキ:Nishiki ヌーベ:Nube ネムノ:Nemuno ノドカ:Nodoka ハルカ:Haruka ヒナタ:Hinata フヅキ:Fuzuki
ヘリオ:Helio ホシノ:Hoshino マヒル:Mahiru ミナモ:Minamo ムラサ:Murasa メルロ:Merlo モミジ:Momiji
ヤマト:Yamato ユメノ:Yumeno ヨイノ:Yoino ライト:Light リンド:Lind ルミナ:Lumina レイン:Rain
ロマネ:Romane ワカバ:Wakaba アサギ:Asagi カスミ:Kasumi サクヤ:Sakuya タマノ:Tamano ナナミ:Nanami
ハヤテ:Hayate マドカ:Madoka ヤヨイ:Yayoi ラシン:Rashin イブキ:Ibuki
""")
_MIDDLE: Final = _pairs("""
オウ:O ザ:the ニ:ni ヲ:wo デ:de ラ:la ル:le ミ:mi ド:do ファ:fa ソ:so シ:si エ:e ア:a ヴィ:vi
ゴー:go イン:in オン:on アン:an エル:el
""")
_LAST: Final = _pairs("""
アロー:Arrow ウィング:Wing エース:Ace オーラ:Aura カゼ:Kaze キング:King クイン:Queen グロウ:Glow
ケープ:Cape コード:Chord サンド:Sand シップ:Ship スター:Star セーラ:Sailor ソング:Song
ダンス:Dance チャイム:Chime ツリー:Tree テイル:Tail ドリム:Dream ナイト:Night ノーツ:Notes
ハート:Heart ビート:Beat フラワ:Flower ベル:Bell ホープ:Hope マーチ:March ミスト:Mist
ムーン:Moon メロディ:Melody モーニ:Morning ヤード:Yard ユニオン:Union ライズ:Rise リバー:River
ルート:Route レイク:Lake ロード:Road ワルツ:Waltz イーグル:Eagle オペラ:Opera ガーデン:Garden
クラウン:Crown サイン:Sign シティ:City スカイ:Sky タイム:Time パレス:Palace バレエ:Ballet
フォース:Force ブライト:Bright ポエム:Poem マイル:Mile リズム:Rhythm レター:Letter ロンド:Rondo
""")
_FAMILY: Final = _words("""
青柳 石動 上総 榎並 大室 風間 北條 桐島 久瀬 小早川 佐倉 志摩 諏訪 瀬尾 園部 高城 筑紫 手越 戸倉
中洲 西脇 沼尻 野分 羽生田 東雲 藤枝 辺見 堀越 真砂 水無瀬 村雨 毛受 八雲 湯浅 与那嶺
""")
_GIVEN: Final = _words("""
一颯 海斗 和真 圭吾 蒼介 大雅 拓実 直央 颯汰 隼也 宏樹 誠司 正宗 瑞希 康平 悠馬 龍之 凌 蓮 航 晶
環 千景 美咲 七海
""")
_READING: Final = _words("ｱｵﾔｷﾞ ｲｽﾙｷﾞ ｶｽﾞｻ ｴﾅﾐ ｵｵﾑﾛ ｶｻﾞﾏ ﾎｳｼﾞｮｳ ｷﾘｼﾏ ｸｾﾞ ｺﾊﾞﾔｶﾜ")
_PLACES: Final = _words("日高町 新冠町 浦河町 新ひだか町 安平町 千歳市 むかわ町 青森県")
_SITES: Final = _words("""
青葉 朝霧 磯辺 岩清水 梅香 扇 翔鷹 霞ヶ丘 桔梗 銀河 木枯 小夜 桜川 早春 潮風 白樺 涼風 瀬戸 蒼天
立花 月影 椿 天竜 常磐 渚 虹 野菊 初霜 花霞 氷室 富士見 若草
""")
NAMES: Final = len(_FIRST) * len(_MIDDLE) * len(_LAST)
# Shares no factor with the number of names, so that no name comes twice.
_STRIDE: Final = 40_361


def horse_name(number: int) -> tuple[str, str]:
    """Return a horse's name in katakana and Latin; unique below `NAMES`."""
    rest, first = divmod(number * _STRIDE % NAMES, len(_FIRST))
    last, middle = rest % len(_LAST), rest // len(_LAST)
    parts = (_FIRST[first], _MIDDLE[middle], _LAST[last])
    return "".join(kana for kana, _ in parts), f"{parts[0][1]} {parts[1][1]} {parts[2][1]}"


def person(number: int) -> tuple[str, str]:
    """Return a person's family and given name."""
    family = _FAMILY[number % len(_FAMILY)]
    given = _GIVEN[(number // len(_FAMILY) * 7 + number) % len(_GIVEN)]
    return family, given


def reading(number: int) -> str:
    """Return the reading of a family name in half-width kana."""
    return f"{_READING[number % len(_READING)]} {_READING[number * 3 % len(_READING)]}"


def birthplace(number: int) -> str:
    """Return the town a horse was born in."""
    return _PLACES[number % len(_PLACES)]


def site(*key: object) -> str:
    """Return a word for race names."""
    return seeded_random("site", *key).choice(_SITES)


Sex: TypeAlias = Literal["sire", "dam"]

_SIRES: Final = 60
_FOREIGN: Final = re.compile("000a[0-9a-f]{6}")
_NATIVE: Final = re.compile("[0-9]{4}[23][0-9]{5}")
MARES: Final = 2_000
_GENERATION_YEARS: Final = 9
_FOREIGN_EVERY: Final = 4
_DIGIT: Final[dict[Sex, str]] = {"sire": "2", "dam": "3"}


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A sire or dam; the parents of those that race are of generation 1, theirs of generation 2.

    `worth` is what it adds to the ability of its foals. A foreign one has a country.
    """

    id: str
    generation: int
    sex: Sex
    number: int
    name: str
    english: str
    born: int
    coat: str
    country: str | None
    family: str
    worth: float


class Families:
    """All ancestors of one world, generated on demand."""

    def __init__(self, seed: int, first_year: int) -> None:
        self._seed = seed
        self._first_year = first_year
        self.ancestor = lru_cache(maxsize=8_192)(self._ancestor)

    def _ancestor(self, generation: int, sex: Sex, number: int) -> Ancestor:
        draw = seeded_random(self._seed, "ancestor", generation, sex, number)
        name, english = horse_name(NAMES - 1 - (generation * 4_100 + number * 2 + (sex == "dam")))
        born = self._oldest(generation) + number % 5
        foreign = generation > 1 and number % _FOREIGN_EVERY == 0
        foreign |= generation == 1 and sex == "dam" and number % (2 * _FOREIGN_EVERY) == 1
        return Ancestor(
            id=f"000a{generation << 17 | (sex == 'dam') << 16 | number:06x}"
            if foreign
            else f"{born}{_DIGIT[sex]}{number:05}",
            generation=generation,
            sex=sex,
            number=number,
            name=name,
            english=english,
            born=born,
            coat=draw.choice(("鹿毛", "黒鹿毛", "栗毛", "芦毛", "青鹿毛", "青毛", "栃栗毛")),
            country=draw.choice(("米", "英", "愛", "仏", "加", "豪")) if foreign else None,
            family=f"{draw.randint(1, 23)}-{draw.choice('abcdh')}",
            worth=draw.gauss(0, 0.35 if sex == "sire" else 0.25),
        )

    def parents(self, ancestor: Ancestor) -> tuple[Ancestor, Ancestor]:
        """Return an ancestor's own sire and dam."""
        draw = seeded_random(self._seed, "parents", ancestor.id)
        older = ancestor.generation + 1
        sire = self.ancestor(older, "sire", draw.randrange(_SIRES))
        return sire, self.ancestor(older, "dam", draw.randrange(MARES))

    def of_foal(self, year: int, number: int) -> tuple[Ancestor, Ancestor]:
        """Return the sire and dam of a foal; a mare has one foal a year."""
        sire = hash_slot(self._seed + year * MARES + number, _SIRES)
        mare = (number * 7 + year * 13) % MARES
        return self.ancestor(1, "sire", sire), self.ancestor(1, "dam", mare)

    def foal_of(self, mare: int, year: int) -> int:
        """Return the number of a mare's foal of a year."""
        return (mare - year * 13) * pow(7, -1, MARES) % MARES

    def find(self, horse_id: str) -> Ancestor | None:
        """Return an ancestor by id; None if there is none."""
        known: tuple[int, Sex, int]
        if _FOREIGN.fullmatch(horse_id):
            packed = int(horse_id[4:], 16)
            known = packed >> 17, "dam" if packed >> 16 & 1 else "sire", packed & 0xFFFF
        elif _NATIVE.fullmatch(horse_id):
            known = self._known_native(horse_id)
        else:
            return None
        found = self.ancestor(*known)
        return found if found.id == horse_id else None

    def _known_native(self, horse_id: str) -> tuple[int, Sex, int]:
        sex: Sex = "sire" if horse_id[4] == _DIGIT["sire"] else "dam"
        back = self._oldest(1) + _GENERATION_YEARS - int(horse_id[:4]) - 1
        return max(back // _GENERATION_YEARS + 1, 1), sex, int(horse_id[5:])

    def _oldest(self, generation: int) -> int:
        older = _GENERATION_YEARS * (generation - 1)
        return self._first_year - 18 - older


FOALS: Final[dict[Circuit, int]] = {"jra": 1_000, "nar": 440}
JOCKEYS: Final[dict[Circuit, int]] = {"jra": 110, "nar": 80}
YOUNGEST: Final = 2
OLDEST: Final = 6
GROWN: Final = 4
_HORSE_ID: Final = re.compile("[0-9]{4}1[0-9]{5}")
_NAMES_A_YEAR: Final = 1_600
# By years since the first ride: the mark before the name and the kilograms taken off.
_APPRENTICES: Final = {0: ("▲", 3), 1: ("▲", 3), 2: ("△", 2), 3: ("☆", 1)}


@dataclass(frozen=True, slots=True, eq=False)
class Horse:
    """A racehorse: its public data and its true abilities."""

    id: str
    number: int
    name: str
    english: str
    born_on: date
    sex: str
    coat: str
    home: Circuit
    owner: str
    breeder: str
    birthplace: str
    sold_for: int | None
    sire: Ancestor
    dam: Ancestor
    kilograms: int
    retires_at: int
    leaves_at: int | None
    jumps: bool
    ability: float
    best_metres: float
    lean: float
    wet: float

    @property
    def foaled(self) -> int:
        """The year of birth."""
        return self.born_on.year

    def races_in(self, year: int) -> bool:
        """Return whether it races in a year."""
        return YOUNGEST <= year - self.foaled <= self.retires_at

    def circuit(self, year: int) -> Circuit:
        """Return its circuit in a year; some move from the JRA to the NAR."""
        gone = self.leaves_at is not None and year - self.foaled >= self.leaves_at
        return "nar" if gone else self.home

    def worth(self, surface: Surface, metres: int, going: int) -> float:
        """Return its true strength on a course, before jockey and luck."""
        worth = self.ability + self.wet * going / 3
        if surface == "jump":
            return worth
        away = min(((metres - self.best_metres) / 1_100) ** 2, 1.5)
        return worth - away + (self.lean if surface == "turf" else -self.lean)


@dataclass(frozen=True, slots=True)
class Jockey:
    """A jockey; `skill` adds to the strength of the horse."""

    id: str
    number: int
    circuit: Circuit
    name: str
    short: str
    kana: str
    born_on: date
    first_year: int
    skill: float

    def allowance(self, year: int) -> tuple[str, int]:
        """Return mark and kilograms of an apprentice allowance; empty for others."""
        return _APPRENTICES.get(year - self.first_year, ("", 0))


@dataclass(frozen=True, slots=True)
class Trainer:
    """A trainer and the stable's location."""

    id: str
    circuit: Circuit
    short: str
    stable: str
    skill: float


class Population:
    """All horses, jockeys and trainers of one world, generated on demand."""

    def __init__(self, seed: int, first_year: int) -> None:
        self._seed = seed
        self._first_year = first_year
        self.families = Families(seed, first_year)
        self.horse = lru_cache(maxsize=32_768)(self._horse)
        self.jockey = lru_cache(maxsize=None)(self._jockey)
        self.trainer = lru_cache(maxsize=None)(self._trainer)

    def find_horse(self, horse_id: str) -> Horse | None:
        """Return a racehorse by id; None if there is none."""
        if _HORSE_ID.fullmatch(horse_id) is None:
            return None
        year, number = int(horse_id[:4]), int(horse_id[5:])
        if year < self._first_year - OLDEST or number >= sum(FOALS.values()):
            return None
        return self.horse(year, number)

    def find_jockey(self, jockey_id: str) -> Jockey | None:
        """Return a jockey by id; None if there is none."""
        everyone = (
            self.jockey(circuit, at) for circuit in JOCKEYS for at in range(JOCKEYS[circuit])
        )
        return next((jockey for jockey in everyone if jockey.id == jockey_id), None)

    def trainer_of(self, horse: Horse, year: int) -> Trainer:
        """Return the trainer of a horse in a year."""
        circuit = horse.circuit(year)
        return self.trainer(circuit, horse.number * 7 % {"jra": 120, "nar": 90}[circuit])

    def siblings(self, horse: Horse) -> list[Horse]:
        """Return the racehorses with the same dam."""
        years = range(self._first_year - OLDEST, self._first_year)
        foals = [(year, self.families.foal_of(horse.dam.number, year)) for year in years]
        known = [self.horse(*foal) for foal in foals if foal[1] < sum(FOALS.values())]
        return [foal for foal in known if foal.id != horse.id]

    def _horse(self, year: int, number: int) -> Horse:
        draw = seeded_random(self._seed, "horse", year, number)
        home: Circuit = "jra" if number < FOALS["jra"] else "nar"
        sire, dam = self.families.of_foal(year, number)
        name, english = horse_name((year - self._first_year + 8) * _NAMES_A_YEAR + number)
        jumps = home == "jra" and draw.random() < 0.12
        leaves = home == "jra" and not jumps and draw.random() < 0.2
        sold = draw.randint(3, 90) * 100 if draw.random() < 0.5 else None
        return Horse(
            id=f"{year}1{number:05}",
            number=number,
            name=name,
            english=english,
            born_on=date(year, 1, 20) + timedelta(days=draw.randrange(130)),
            sex=draw.choice("牡牡牡牝牝牝セ"),
            coat=draw.choice(("鹿毛", "黒鹿毛", "栗毛", "芦毛", "青鹿毛")),
            home=home,
            owner="".join(person(draw.randrange(800))),
            breeder=f"{person(draw.randrange(800))[0]}牧場",
            birthplace=birthplace(draw.randrange(64)),
            sold_for=sold,
            sire=sire,
            dam=dam,
            kilograms=2 * round(draw.gauss(235, 13)),
            retires_at=draw.choice((3, 4, 5, 5, 6, 6)),
            leaves_at=draw.choice((3, 4, 5)) if leaves else None,
            jumps=jumps,
            ability=sire.worth + dam.worth + draw.gauss(0, 1.3),
            best_metres=draw.gauss(1_650, 320),
            lean=draw.gauss(0, 0.25),
            wet=draw.gauss(0, 0.2),
        )

    def _jockey(self, circuit: Circuit, number: int) -> Jockey:
        draw = seeded_random(self._seed, "jockey", circuit, number)
        at = number if circuit == "jra" else number + JOCKEYS["jra"]
        family, given = person(at)
        # Local jockeys have ids with letters, some of them digits alone.
        local = f"a{0x100 + number * 13:04x}" if number % 3 else f"054{number:02}"
        first = self._first_year + (number % 24) - 20
        return Jockey(
            id=f"{1_001 + number:05}" if circuit == "jra" else local,
            number=number,
            circuit=circuit,
            name=f"{family} {given}",
            short=f"{family}{given}"[:4],
            kana=reading(at),
            born_on=date(first - 18, 1, 1) + timedelta(days=draw.randrange(365)),
            first_year=first,
            skill=draw.gauss(0, 0.3),
        )

    def _trainer(self, circuit: Circuit, number: int) -> Trainer:
        draw = seeded_random(self._seed, "trainer", circuit, number)
        family, given = person(number + (400 if circuit == "jra" else 600))
        stable = "地方" if circuit == "nar" else ("美浦", "栗東")[number % 2]
        trainer_id = f"{1_050 + number:05}" if circuit == "jra" else f"b{0x200 + number * 7:04x}"
        skill = draw.gauss(0, 0.15)
        return Trainer(trainer_id, circuit, f"{family}{given}"[:4], stable, skill)
