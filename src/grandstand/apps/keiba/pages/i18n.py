"""English and Japanese texts of the pages, and formatting by language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Final, TypeAlias

from markupsafe import Markup
from starlette.requests import Request

from grandstand.apps.keiba.domain.races import Language
from grandstand.apps.keiba.services.page_cache import JST
from grandstand.core import formatting
from grandstand.core.formatting import EMPTY
from grandstand.kit.pages.rendering import age_tag

Translation: TypeAlias = tuple[str, str]

LABELS: Final[Mapping[str, Translation]] = {
    "keiba": ("Keiba", "競馬"),
    "races": ("Races", "レース"),
    "watched": ("Watched horses", "注目馬"),
    "cache": ("Cache", "キャッシュ"),
    "language": ("Language", "言語"),
    "all": ("All", "すべて"),
    "jra": ("JRA", "中央"),
    "nar": ("NAR", "地方"),
    "show": ("Show", "表示"),
    "none": ("None", "なし"),
    "date": ("Date", "日付"),
    "time": ("Time", "タイム"),
    "sources": ("Sources", "データの出典"),
    "fetched": ("just fetched", "今回取得"),
    "fresh": ("cached", "保存済み"),
    "stale": ("stale", "期限切れ"),
    "derived_note": (
        "Probabilities, fair odds and figures are computed from these pages.",
        "確率・適正オッズ・指数は上記のページから独自に算出したものです。",
    ),
    "more": ("More", "続き"),
    "refresh": ("Refresh", "再取得"),
    "meeting_races": ("Races at this meeting", "同日の開催レース"),
    "table": ("table", "表"),
    "back_to_start": ("Back to the first page", "最初から"),
    # Racing days
    "other_days": ("Racing days", "開催日"),
    "circuit": ("Circuit", "主催"),
    "next_race": ("Next", "次のレース"),
    "jst": ("JST", "日本時間"),
    "runners": ("Runners", "出走馬"),
    "runner_count": ("runners", "頭"),
    "result": ("Result", "結果"),
    "started": ("started", "発走済み"),
    "turf": ("Turf", "芝"),
    "dirt": ("Dirt", "ダート"),
    "no_racing": ("No racing on this day.", "この日の開催はありません。"),
    "no_racing_next": (
        "Choose another racing day above, or go to the next one.",
        "上の開催日から選ぶか、次の開催日へ進んでください。",
    ),
    "to_next_meeting": ("Next racing day", "次の開催日へ"),
    "site_unavailable": ("netkeiba is unavailable", "レースサイトに接続できません"),
    "site_unavailable_help": (
        "Try again later. Cached pages are still available.",
        "しばらくしてからもう一度お試しください。保存済みのものは表示されます。",
    ),
    "try_again": ("Try again", "もう一度"),
    "meeting_day": ("meeting {0}, day {1}", "{0}回{1}日目"),
    "day_lead": ("{0} races at {1}.", "{1}で{0}レース。"),
    "tracks_one": ("one track", "1場"),
    "tracks": ("{0} tracks", "{0}場"),
    "earlier_day": ("Previous", "前の開催日"),
    "later_day": ("Next", "次の開催日"),
    # Cards
    "card": ("Card", "出馬表"),
    "ranking": ("Ranking", "評価順"),
    "ranking_lead": (
        "Factors add points, and points give probabilities. Open a runner for the reasons.",
        "各要素の点数の合計から確率を計算。馬名を開くと根拠が見られます。",
    ),
    "compare": ("Compare", "比較"),
    "compare_lead": (
        "The best value of each row is marked. Records are 1st-2nd-3rd-other.",
        "各行の最良値に印。成績は1着-2着-3着-着外。",
    ),
    "compare_chosen": ("Compare selected", "選んだ馬を比較"),
    "choose": ("Compare", "比較"),
    "preview": ("Preview", "展望"),
    "number": ("No.", "馬番"),
    "horse": ("Horse", "馬名"),
    "sex_age": ("Sex, age", "性齢"),
    "jockey": ("Jockey", "騎手"),
    "trainer": ("Trainer", "厩舎"),
    "carried": ("Weight", "斤量"),
    "body": ("Body weight", "馬体重"),
    "odds": ("Odds", "単勝"),
    "place_odds": ("Place odds", "複勝"),
    "popularity": ("Fav.", "人気"),
    "form": ("Form", "近走"),
    "form_of": ("Form, newest first", "近走(新しい順)"),
    "rest": ("Days since run", "間隔"),
    "sire": ("Sire", "父"),
    "dam": ("Dam", "母"),
    "win": ("Win", "勝率"),
    "top2": ("Top 2", "連対率"),
    "top3": ("Top 3", "複勝率"),
    "fair": ("Fair odds", "適正オッズ"),
    "market": ("Market", "市場"),
    "ours": ("Ours", "評価"),
    "returns": ("Expected return", "期待値"),
    "evidence": ("Evidence", "根拠の量"),
    "score": ("Points", "点数"),
    "factor": ("Factor", "要素"),
    "points": ("points", "点"),
    "reason": ("Reason", "理由"),
    "scratched": ("scratched", "取消・除外"),
    "prizes": ("Prize money", "本賞金"),
    "ten_thousand_yen": ("× ¥10,000", "万円"),
    "odds_none": ("No odds yet.", "オッズはまだありません。"),
    "odds_again": ("Refresh odds", "オッズを更新"),
    "odds_failed": (
        "Odds are unavailable. See the cache page for the site status.",
        "オッズを取得できません。状況はキャッシュのページをご覧ください。",
    ),
    "odds_of": ("Odds", "オッズ"),
    "chances_alone": ("Our win probabilities", "評価の勝率"),
    "chances": ("Our win probabilities and the market's", "評価と市場の勝率"),
    "chances_note": (
        "By horse number, in percent; the market's without the takeout.",
        "馬番別、単位は%。市場は控除率を除いたもの。",
    ),
    "career": ("Career", "通算"),
    "pedigree": ("Pedigree", "血統"),
    "jockey_panel": ("Jockey", "騎手成績"),
    "insights": ("In these conditions", "この条件での成績"),
    "last_five": ("Last five runs", "近5走"),
    "never_ran": ("No runs yet.", "出走歴なし。"),
    "missing": ("Unavailable.", "取得できませんでした。"),
    "loading": ("Loading", "取得中"),
    "overall": ("Career", "通算"),
    "five_years": ("Last five years", "近5年"),
    "rides": ("rides", "騎乗"),
    "starts": ("Starts", "出走"),
    "earnings": ("Earnings", "獲得賞金"),
    "no_ranking": (
        "No ranking yet. It appears once the runners' past races are loaded.",
        "評価は出走馬の成績が揃うと表示されます。",
    ),
    "in_part": ("incomplete", "一部のみ"),
    "incomplete_card": ("Some data is missing", "一部のデータがありません"),
    # Loading
    "loading_card": ("Loading the card", "データを収集中"),
    "loading_help": (
        "Pages are fetched one at a time. You can leave this page; loading continues.",
        "サイトへの負担を避け、1ページずつ取得します。離れても続行し、取得済みの分は残ります。",
    ),
    "progress": (
        "{0} of {1} pages: {2} cached, {3} fetched, {4} failed",
        "{1}件中{0}件(保存済み{2}、取得{3}、失敗{4})",
    ),
    "time_left": ("about {0} left", "残り約{0}"),
    "load_failed": ("The card could not be loaded.", "データを収集できませんでした。"),
    "page_missing": (
        "1 page could not be fetched.",
        "1件を取得できませんでした。取得できた分を表示しています。",
    ),
    "pages_missing": (
        "{0} pages could not be fetched.",
        "{0}件を取得できませんでした。取得できた分を表示しています。",
    ),
    "fetch_missing": ("Fetch missing pages", "不足分を再取得"),
    "reload": ("Reload", "再表示"),
    "load_card": ("Load card", "データを収集"),
    # Results
    "finish": ("Finish", "着順"),
    "our_rank": ("Our rank", "評価順"),
    "margin": ("Margin", "着差"),
    "last_3f": ("Last 600 m", "上り"),
    "passing": ("Corners", "通過"),
    "payouts": ("Payouts for ¥100", "払戻(100円)"),
    "bet": ("Bet", "券種"),
    "numbers": ("Numbers", "組番"),
    "amount": ("Payout", "払戻金"),
    "not_run": ("The result is not confirmed yet.", "結果はまだ確定していません。"),
    "not_run_next": (
        "It appears a few minutes after the race.",
        "発走の数分後に表示されます。",
    ),
    "winner": ("Winner", "1着"),
    "our_pick": ("Our top pick finished", "評価1位の着順"),
    "dead_heat": ("dead heat", "同着"),
    "demoted": ("demoted", "降着"),
    "results": ("Result", "レース結果"),
    # Horses
    "owner": ("Owner", "馬主"),
    "breeder": ("Breeder", "生産者"),
    "birthplace": ("Birthplace", "産地"),
    "born": ("Born", "生年月日"),
    "active": ("active", "現役"),
    "retired": ("retired", "引退"),
    "main_wins": ("Main wins", "主な勝鞍"),
    "career_chart": ("Rivals beaten", "先着率"),
    "career_note": (
        "Share of rivals beaten in each race, in percent; 100 is a win.",
        "各レースで先着した相手の割合(%)。100は1着。",
    ),
    "earned_chart": ("Prize money", "獲得賞金の累計"),
    "all_runs": ("All runs", "全成績"),
    "track": ("Track", "開催"),
    "race": ("Race", "レース"),
    "distance": ("Distance", "距離"),
    "going": ("Going", "馬場"),
    "prize": ("Prize", "賞金"),
    "first_or_second": ("Winner (runner-up)", "勝ち馬(2着馬)"),
    "five_generations": ("Five generations", "5代血統表"),
    "generation": ("Generation {0}", "{0}代前"),
    "crosses": ("Crosses", "クロス"),
    "no_crosses": ("No crosses within five generations.", "5代内のクロスなし。"),
    "no_pedigree": ("Pedigree unavailable.", "血統を取得できませんでした。"),
    "watch": ("Watch this horse", "注目馬に登録"),
    "unwatch": ("Stop watching", "登録を解除"),
    "note": ("Your note", "メモ"),
    "save_note": ("Save note", "メモを保存"),
    "is_watched": ("You watch this horse.", "注目馬に登録済み。"),
    # Jockeys
    "affiliation": ("Affiliation", "所属"),
    "debut": ("Debut", "デビュー"),
    "height": ("Height", "身長"),
    "weight": ("Weight", "体重"),
    "wins_chart": ("Wins by year", "年度別勝利数"),
    "rate_chart": ("Win and place rates by year", "年度別成績率"),
    "all_rides": ("Rides", "騎乗数"),
    "year": ("Year", "年度"),
    "wins": ("Wins", "1着"),
    "also_placed": ("{0} seconds, {1} thirds", "2着{0}、3着{1}"),
    "seconds": ("2nd", "2着"),
    "thirds": ("3rd", "3着"),
    "graded": ("Graded wins", "重賞勝利"),
    "best_horse": ("Best horse", "代表馬"),
    "years": ("Years", "年度別成績"),
    "rank_among": ("Rank", "順位"),
    # Watched horses
    "watched_lead": (
        "You are notified when one of them is entered in a race.",
        "登録馬が出走表に載ると通知します。",
    ),
    "none_watched": ("No watched horses yet.", "注目馬はまだありません。"),
    "none_watched_next": (
        "Open a horse from a race card and select “Watch this horse”.",
        "出馬表から馬のページを開き「注目馬に登録」を押してください。",
    ),
    "see_races": ("See the races", "レースを見る"),
    "entered": ("Entered", "出走予定"),
    "not_entered": ("No upcoming entries on cached cards.", "保存済みの出馬表に予定なし。"),
    "since": ("Watched since", "登録"),
    # The cache
    "cache_lead": (
        "Cached pages, and requests to the sites.",
        "保存データとその利用率、サイトへのアクセス状況。",
    ),
    "hit_rate": ("Hit rate", "ヒット率"),
    "since_start": ("since server start", "サーバー起動以降"),
    "hits": ("Hits", "ヒット"),
    "misses": ("Misses", "ミス"),
    "shared": ("Shared", "共有"),
    "entries": ("Entries", "件数"),
    "stored": ("Size", "サイズ"),
    "kind": ("Kind", "種類"),
    "valid": ("Valid", "有効"),
    "expired": ("Expired", "期限切れ"),
    "oldest": ("Oldest", "最古"),
    "newest": ("Newest", "最新"),
    "by_kind": ("By kind", "種類別"),
    "sites": ("Sites", "アクセス先"),
    "requests_today": ("Requests today", "本日のリクエスト"),
    "requests_left": ("{0} left today", "本日の残り{0}"),
    "next_request": ("Next allowed request", "次に許可される時刻"),
    "at_once": ("now", "すぐ可能"),
    "paused": ("Paused until", "停止中(再開予定)"),
    "not_paused": ("not paused", "停止なし"),
    "last_error": ("Last error", "直近のエラー"),
    "last_success": ("Last response", "直近の応答"),
    "never": ("never", "なし"),
    "terms": ("Terms", "利用条件"),
    "entry": ("Entry", "項目"),
    "fetched_at": ("Fetched", "取得日時"),
    "expires_at": ("Expires", "有効期限"),
    "storage": ("Storage", "形式"),
    "begins_with": ("Key prefix", "キーの先頭"),
    "all_entries": ("Entries", "項目一覧"),
    "no_entries": (
        "No matching entries. Pages are cached when viewed; open a race first.",
        "該当する項目はありません。見たページが保存されます。まずレースを開いてください。",
    ),
    "payload": ("Payload", "内容"),
    "no_payload": ("The site has no such page.", "「データなし」として保存。"),
    "incomplete": ("There are more entries than were counted.", "一部のみ集計。"),
    "purge": ("Remove", "削除"),
    "purge_lead": (
        "Removed pages are fetched again when needed.",
        "削除した項目は必要になれば再取得されます。",
    ),
    "purge_expired": ("Expired only", "期限切れのみ"),
    "purge_count": ("Count", "件数を確認"),
    "purge_found": ("{0} entries ({1}) will be removed.", "{0}件({1})が削除されます。"),
    "purge_now": ("Remove", "削除する"),
    "purged": ("{0} entries removed.", "{0}件を削除しました。"),
    # Previews
    "preview_lead": (
        "Written from the data of the card; all figures come from it.",
        "収集したデータから作成。数値はデータに基づきます。",
    ),
    "focus": ("Focus", "知りたいこと"),
    "focus_help": (
        "For example: who likes wet ground? Leave empty for a general preview.",
        "例: 道悪が得意な馬は? 空欄なら全体の展望を作成します。",
    ),
    "write": ("Write preview", "展望を作成"),
    "individual": ("Runners", "各馬の評価"),
    "comparison": ("Comparison", "比較"),
    "top_five": ("Top five", "上位5頭の予想"),
    "confidence": ("Confidence", "信頼度"),
    "high": ("high", "高"),
    "medium": ("medium", "中"),
    "low": ("low", "低"),
    "written_by": ("Written by {0}", "作成: {0}"),
    "by_rules": ("rules (no language model)", "ルールによる自動作成"),
    "cached_preview": ("cached, same data", "同じデータで作成済み"),
    "omitted": ("Omitted to fit the prompt", "長さのため省略"),
    "needs_card": (
        "The preview needs the full card. Load it first.",
        "展望の作成には出馬表のデータが必要です。先に収集してください。",
    ),
}

TERMS: Final[Mapping[str, Mapping[str, Translation]]] = {
    "surface": {
        "turf": ("turf", "芝"),
        "dirt": ("dirt", "ダ"),
        "jump": ("jumps", "障"),
    },
    "direction": {
        "left": ("left-handed", "左"),
        "right": ("right-handed", "右"),
        "straight": ("straight", "直線"),
    },
    "weather": {
        "fine": ("fine", "晴"),
        "cloudy": ("cloudy", "曇"),
        "rainy": ("rain", "雨"),
        "drizzle": ("drizzle", "小雨"),
        "snow": ("snow", "雪"),
        "light_snow": ("light snow", "小雪"),
    },
    "going": {
        "firm": ("firm", "良"),
        "good": ("good", "稍重"),
        "yielding": ("yielding", "重"),
        "soft": ("soft", "不良"),
    },
    "sex": {
        "male": ("horse", "牡"),
        "female": ("mare", "牝"),
        "gelding": ("gelding", "セ"),
    },
    # Coat colors, by the stud book terms used on the site.
    "coat": {
        "鹿毛": ("bay", "鹿毛"),
        "黒鹿毛": ("dark bay", "黒鹿毛"),
        "青鹿毛": ("brown", "青鹿毛"),
        "青毛": ("black", "青毛"),
        "栗毛": ("chestnut", "栗毛"),
        "栃栗毛": ("dark chestnut", "栃栗毛"),
        "芦毛": ("gray", "芦毛"),
        "白毛": ("white", "白毛"),
    },
    # Race conditions and weight rules; others are shown in the site's own words.
    "condition": {
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
        "馬齢": ("weight for age", "馬齢"),
        "定量": ("set weights", "定量"),
        "別定": ("allowances", "別定"),
        "ハンデ": ("handicap", "ハンデ"),
    },
    "circuit": {
        "jra": ("JRA", "中央"),
        "nar": ("NAR", "地方"),
        "overseas": ("overseas", "海外"),
    },
    "outcome": {
        "finished": ("finished", "完走"),
        "stopped": ("pulled up", "中止"),
        "withdrawn": ("withdrawn", "取消"),
        "excluded": ("excluded", "除外"),
        "disqualified": ("disqualified", "失格"),
    },
    "short_outcome": {
        "finished": ("–", "–"),
        "stopped": ("PU", "中"),
        "withdrawn": ("WD", "取"),
        "excluded": ("EX", "除"),
        "disqualified": ("DQ", "失"),
    },
    "bet": {
        "win": ("Win", "単勝"),
        "place": ("Place", "複勝"),
        "bracket_quinella": ("Bracket quinella", "枠連"),
        "bracket_exacta": ("Bracket exacta", "枠単"),
        "quinella": ("Quinella", "馬連"),
        "wide": ("Wide", "ワイド"),
        "exacta": ("Exacta", "馬単"),
        "trio": ("Trio", "3連複"),
        "trifecta": ("Trifecta", "3連単"),
    },
    "odds": {
        "final": ("final", "確定"),
        "live": ("live", "発売中"),
        "forecast": ("forecast", "予想"),
    },
    "kind": {
        "DayRaces": ("Day lists, JRA", "中央レース一覧"),
        "LocalDayRaces": ("Day lists, NAR", "地方レース一覧"),
        "MeetingDays": ("Racing days", "開催日"),
        "Race": ("Cards", "出馬表"),
        "RaceOdds": ("Odds", "オッズ"),
        "RaceOutcome": ("Results", "レース結果"),
        "HorseResults": ("Horses: runs", "競走成績"),
        "HorseParents": ("Horses: parents", "父母"),
        "HorseCareer": ("Horses: profiles", "馬プロフィール"),
        "HorsePedigree": ("Horses: pedigrees", "血統"),
        "JockeyStats": ("Jockeys", "騎手"),
        "Analysis": ("Previews", "展望"),
    },
}


LANGUAGE_COOKIE: Final = "grandstand_keiba_language"
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja")

_WEEKDAYS: Final = "月火水木金土日"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@cache
def _labels(language: Language) -> Mapping[str, str]:
    index = LANGUAGES.index(language)
    return {name: pair[index] for name, pair in LABELS.items()}


@dataclass(frozen=True, slots=True)
class Locale:
    """Labels and formats of one language."""

    language: Language
    w: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, language: Language) -> Locale:
        return cls(language, _labels(language))

    @property
    def japanese(self) -> bool:
        """Whether the language is Japanese."""
        return self.language == "ja"

    def say(self, name: str, *values: object) -> str:
        """Return a label with its placeholders filled in."""
        return self.w[name].format(*values)

    def term(self, kind: str, word: str | None) -> str:
        """Translate a racing term; unknown terms stay as they are, None becomes empty."""
        if word is None:
            return ""
        pair = TERMS[kind].get(word, (word, word))
        return pair[LANGUAGES.index(self.language)]

    def either(self, english: str | None, japanese: str | None) -> str:
        """Return the text in this language, or in the other if there is none."""
        first, second = (japanese, english) if self.japanese else (english, japanese)
        return first or second or EMPTY

    def day(self, day: date | None, *, short: bool = False) -> str:
        """Return a date with its weekday; the short form omits the year."""
        if day is None:
            return EMPTY
        if self.japanese:
            year = "" if short else f"{day.year}年"
            return f"{year}{day.month}月{day.day}日({_WEEKDAYS[day.weekday()]})"
        if short:
            return f"{day:%a} {day.day} {day:%b}"
        return f"{day:%A} {day.day} {day:%B} {day.year}"

    def date(self, day: date | None) -> str:
        """Return a short date with year."""
        if day is None:
            return EMPTY
        return f"{day:%Y/%m/%d}" if self.japanese else f"{day.day} {day:%b} {day.year}"

    def clock(self, moment: datetime | None) -> Markup:
        """Render the time of day in Japan."""
        if moment is None:
            return Markup(EMPTY)  # noqa: S704 - a constant
        there = moment.astimezone(JST)
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            there.isoformat(timespec="minutes"), f"{there:%Y-%m-%d %H:%M} JST", f"{there:%H:%M}"
        )

    def age(self, moment: datetime | None, now: datetime, zone: str) -> Markup:
        """Render the time since or until a moment."""
        if not self.japanese or moment is None:
            return age_tag(moment, now, zone)
        seconds = (now - moment).total_seconds()
        text = f"{self.length(abs(seconds))}{'前' if seconds >= 0 else '後'}"
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            moment.isoformat(timespec="seconds"),
            formatting.format_time(moment, zone, "second"),
            text,
        )

    def money(self, ten_thousands: Decimal | None) -> str:
        """Return an amount given in units of 10,000 yen."""
        if ten_thousands is None:
            return EMPTY
        if self.japanese:
            return f"{formatting.format_number(ten_thousands, 0)}万円"
        millions = ten_thousands / 100
        digits = 0 if millions == millions.to_integral_value() else 1
        return f"¥{formatting.format_number(millions, digits)}M"

    def length(self, seconds: float) -> str:
        """Return a duration."""
        if not self.japanese:
            return formatting.format_duration(seconds)
        if seconds < _MINUTE:
            return f"{round(seconds)}秒"
        if seconds < _HOUR:
            return f"{round(seconds / _MINUTE)}分"
        if seconds < 2 * _DAY:
            return f"{round(seconds / _HOUR)}時間"
        return f"{round(seconds / _DAY)}日"


def locale_of(request: Request) -> Locale:
    """Return the language chosen by cookie, else the first one the browser accepts."""
    cookie = request.cookies.get(LANGUAGE_COOKIE, "")
    for language in LANGUAGES:
        if cookie == language:
            return Locale.of(language)
    first = request.headers.get("accept-language", "").strip().lower()
    return Locale.of("ja" if first.startswith("ja") else "en")
