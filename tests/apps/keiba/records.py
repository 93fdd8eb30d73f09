"""A record of every entity of keiba, under the name the specification gives it."""

from datetime import UTC, date, datetime
from decimal import Decimal

from grandstand.apps.keiba.domain.horses import (
    Ancestor,
    Form,
    HorseProfile,
    JockeyFigures,
    JockeyRecord,
    Parent,
    Parents,
    PastRun,
    Pedigree,
)
from grandstand.apps.keiba.domain.races import (
    Finisher,
    Odds,
    Payout,
    Pick,
    PlaceOdds,
    RaceCard,
    RaceEntry,
    RaceResult,
    Runner,
    RunnerComment,
    WinOdds,
    WrittenPreview,
)
from grandstand.apps.keiba.store import (
    Analysis,
    DayRaces,
    HorseCareer,
    HorseParents,
    HorsePedigree,
    HorseResults,
    JockeyStats,
    LocalDayRaces,
    MeetingDays,
    Race,
    RaceOdds,
    RaceOutcome,
)
from grandstand.storage.tables import Entity

FETCHED = datetime(2026, 11, 14, 3, tzinfo=UTC)
SOON = datetime(2026, 11, 15, 3, tzinfo=UTC)

RACE = Race(
    data=RaceCard(
        race_id="202605040601",
        race_name="2歳未勝利",
        horses=(Runner("2024100001", "アサヒノユメ", "01157", "山田", 1, 2, Decimal("55.0")),),
        distance=1600,
        track_type="dirt",
        track_name="東京",
    ),
    fetched_at=FETCHED,
    expires=SOON,
)
RESULTS = HorseResults(
    data=Form(
        "2024100001",
        "アサヒノユメ",
        (PastRun(date(2026, 10, 4), "東京", "新馬", 1600, 3, "1:38.2", "0.4"),),
    ),
    fetched_at=FETCHED,
    expires=SOON,
)
PARENTS = HorseParents(
    data=Parents(
        "2024100001",
        Parent("2010100007", "オオゾラ", Decimal(98765), 8, 3, 1, 4),
        Parent("000a00033a", "Quiet Harbour"),
    ),
    fetched_at=FETCHED,
    expires=SOON,
)
JOCKEY = JockeyStats(
    data=JockeyRecord(
        "01157",
        "山田",
        JockeyFigures(582, 640, 634, 7573, Decimal("7.7"), Decimal("16.1"), Decimal("24.5")),
    ),
    fetched_at=FETCHED,
    expires=SOON,
)
DAY = DayRaces(
    race_date=date(2026, 11, 15),
    data=(RaceEntry("東京", 1, "202605040601"), RaceEntry("京都", 1, "202608040601")),
    fetched_at=FETCHED,
    expires=SOON,
)
RESULT = RaceOutcome(
    data=RaceResult(
        race_id="202605040601",
        race_name="2歳未勝利",
        confirmed=True,
        finishers=(Finisher("2024100001", "アサヒノユメ", position=1),),
        payouts=(Payout("win", (2,), 350, 2),),
    ),
    fetched_at=FETCHED,
)
ODDS = RaceOdds(
    data=Odds(
        "202605040601",
        "live",
        (WinOdds(2, Decimal("3.5"), 2),),
        (PlaceOdds(2, Decimal("1.2"), Decimal("1.9")),),
        FETCHED,
    ),
    fetched_at=FETCHED,
)
PROFILE = HorseCareer(data=HorseProfile("2024100001", "アサヒノユメ", starts=3), fetched_at=FETCHED)
PEDIGREE = HorsePedigree(
    data=Pedigree("2024100001", (Ancestor("S", "2010100007", "オオゾラ"),)), fetched_at=FETCHED
)
LOCAL_DAY = LocalDayRaces(
    race_date=date(2026, 11, 15),
    data=(RaceEntry("佐賀", 1, "202655111501"),),
    fetched_at=FETCHED,
)
MEETINGS = MeetingDays(
    around=date(2026, 11, 15), circuit="jra", data=(date(2026, 11, 15),), fetched_at=FETCHED
)
PREVIEW = Analysis(
    race_id="202605040601",
    digest="0f0f",
    data=WrittenPreview(
        "en",
        (RunnerComment("2024100001", "アサヒノユメ", 2, "Fast."),),
        "Clear.",
        (Pick(1, "2024100001", "アサヒノユメ", 2, "Fast", "high"),),
        "offline",
        "1",
    ),
    fetched_at=FETCHED,
)

RECORDS: dict[str, tuple[Entity, ...]] = {
    "Race": (RACE,),
    "Horse Results": (RESULTS,),
    "Horse Parents": (PARENTS,),
    "Jockey Stats": (JOCKEY,),
    "Day Races": (DAY,),
}
