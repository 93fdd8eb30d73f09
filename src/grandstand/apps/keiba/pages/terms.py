"""Kept here: the closed sets of racing's words as people read them, in English and in Japanese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grandstand.apps.keiba.pages.words import Pair

SURFACES: Final[Mapping[str, Pair]] = {
    "turf": ("turf", "芝"),
    "dirt": ("dirt", "ダ"),
    "jump": ("jumps", "障"),
}
DIRECTIONS: Final[Mapping[str, Pair]] = {
    "left": ("left-handed", "左"),
    "right": ("right-handed", "右"),
    "straight": ("straight", "直線"),
}
WEATHERS: Final[Mapping[str, Pair]] = {
    "fine": ("fine", "晴"),
    "cloudy": ("cloudy", "曇"),
    "rainy": ("rain", "雨"),
    "drizzle": ("drizzle", "小雨"),
    "snow": ("snow", "雪"),
    "light_snow": ("light snow", "小雪"),
}
GOINGS: Final[Mapping[str, Pair]] = {
    "firm": ("firm", "良"),
    "good": ("good", "稍重"),
    "yielding": ("yielding", "重"),
    "soft": ("soft", "不良"),
}
SEXES: Final[Mapping[str, Pair]] = {
    "male": ("horse", "牡"),
    "female": ("mare", "牝"),
    "gelding": ("gelding", "セ"),
}
COATS: Final[Mapping[str, Pair]] = {
    "鹿毛": ("bay", "鹿毛"),
    "黒鹿毛": ("dark bay", "黒鹿毛"),
    "青鹿毛": ("brown", "青鹿毛"),
    "青毛": ("black", "青毛"),
    "栗毛": ("chestnut", "栗毛"),
    "栃栗毛": ("dark chestnut", "栃栗毛"),
    "芦毛": ("grey", "芦毛"),
    "白毛": ("white", "白毛"),
}
"""Coats, by the words of the stud book that the site has."""
CONDITIONS: Final[Mapping[str, Pair]] = {
    "サラ系2歳": ("two-year-olds", "サラ系2歳"),
    "サラ系3歳": ("three-year-olds", "サラ系3歳"),
    "サラ系3歳以上": ("three-year-olds and up", "サラ系3歳以上"),
    "サラ系4歳以上": ("four-year-olds and up", "サラ系4歳以上"),
    "新馬": ("newcomers", "新馬"),
    "未勝利": ("maidens", "未勝利"),
    "1勝クラス": ("one-win class", "1勝クラス"),
    "2勝クラス": ("two-win class", "2勝クラス"),
    "3勝クラス": ("three-win class", "3勝クラス"),
    "オープン": ("open class", "オープン"),
    "馬齢": ("weight by age", "馬齢"),
    "定量": ("set weights", "定量"),
    "別定": ("allowances", "別定"),
    "ハンデ": ("handicap", "ハンデ"),
}
"""Who may run and what they carry; what is not here is left in the site's own words."""
CIRCUITS: Final[Mapping[str, Pair]] = {
    "jra": ("JRA", "中央"),
    "nar": ("NAR", "地方"),
    "overseas": ("overseas", "海外"),
}
OUTCOMES: Final[Mapping[str, Pair]] = {
    "finished": ("finished", "完走"),
    "stopped": ("pulled up", "中止"),
    "withdrawn": ("withdrawn", "取消"),
    "excluded": ("kept out", "除外"),
    "disqualified": ("disqualified", "失格"),
}
SHORT_OUTCOMES: Final[Mapping[str, Pair]] = {
    "finished": ("–", "–"),
    "stopped": ("PU", "中"),
    "withdrawn": ("WD", "取"),
    "excluded": ("EX", "除"),
    "disqualified": ("DQ", "失"),
}
BETS: Final[Mapping[str, Pair]] = {
    "win": ("Win", "単勝"),
    "place": ("Place", "複勝"),
    "bracket_quinella": ("Bracket quinella", "枠連"),
    "bracket_exacta": ("Bracket exacta", "枠単"),
    "quinella": ("Quinella", "馬連"),
    "wide": ("Wide", "ワイド"),
    "exacta": ("Exacta", "馬単"),
    "trio": ("Trio", "3連複"),
    "trifecta": ("Trifecta", "3連単"),
}
ODDS_STATES: Final[Mapping[str, Pair]] = {
    "final": ("final", "確定"),
    "live": ("selling now", "発売中"),
    "forecast": ("forecast before selling", "予想"),
}

KINDS: Final[Mapping[str, Pair]] = {
    "DayRaces": ("Day lists, JRA", "中央レース一覧"),
    "LocalDayRaces": ("Day lists, NAR", "地方レース一覧"),
    "MeetingDays": ("Days of racing", "開催日"),
    "Race": ("Cards", "出馬表"),
    "RaceOdds": ("Odds", "オッズ"),
    "RaceOutcome": ("Results", "レース結果"),
    "HorseResults": ("Horses: runs", "競走成績"),
    "HorseParents": ("Horses: parents", "父母"),
    "HorseCareer": ("Horses: profiles", "馬プロフィール"),
    "HorsePedigree": ("Horses: pedigrees", "血統"),
    "JockeyStats": ("Jockeys", "騎手"),
    "Analysis": ("Previews", "展望"),
}

TERMS: Final[Mapping[str, Mapping[str, Pair]]] = {
    "surface": SURFACES,
    "direction": DIRECTIONS,
    "weather": WEATHERS,
    "going": GOINGS,
    "sex": SEXES,
    "coat": COATS,
    "condition": CONDITIONS,
    "circuit": CIRCUITS,
    "outcome": OUTCOMES,
    "short_outcome": SHORT_OUTCOMES,
    "bet": BETS,
    "odds": ODDS_STATES,
    "kind": KINDS,
}
