"""Everything keiba can do."""

from grandstand.apps.keiba.model.previews import Confidence, Individual, Language, Pick
from grandstand.apps.keiba.service.cache.values import (
    CacheEntry,
    CachePage,
    CacheReport,
    Inspected,
    KindReport,
    Purged,
    PurgeWish,
)
from grandstand.apps.keiba.service.keiba import Keiba
from grandstand.apps.keiba.service.means import ENTERED, RESULTED, Means
from grandstand.apps.keiba.service.pauses import TablePauses
from grandstand.apps.keiba.service.refusals import (
    EntryNotFound,
    PreviewRefused,
    PurgeRefused,
    WatchRefused,
)
from grandstand.apps.keiba.service.values import (
    JST,
    Backtested,
    Card,
    CardRunner,
    Day,
    DayRace,
    Entered,
    Horse,
    Insight,
    Meeting,
    Origin,
    Preview,
    Progress,
    Ranked,
    Sourced,
    State,
    Warmed,
    Watched,
)
from grandstand.apps.keiba.sources.addresses import TERMS
from grandstand.apps.keiba.sources.netkeiba import SiteStatus

__all__ = [
    "ENTERED",
    "JST",
    "RESULTED",
    "TERMS",
    "Backtested",
    "CacheEntry",
    "CachePage",
    "CacheReport",
    "Card",
    "CardRunner",
    "Confidence",
    "Day",
    "DayRace",
    "Entered",
    "EntryNotFound",
    "Horse",
    "Individual",
    "Insight",
    "Inspected",
    "Keiba",
    "KindReport",
    "Language",
    "Means",
    "Meeting",
    "Origin",
    "Pick",
    "Preview",
    "PreviewRefused",
    "Progress",
    "PurgeRefused",
    "PurgeWish",
    "Purged",
    "Ranked",
    "SiteStatus",
    "Sourced",
    "State",
    "TablePauses",
    "Warmed",
    "WatchRefused",
    "Watched",
]
