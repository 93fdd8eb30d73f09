"""The services of bets and how they are built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from grandstand.apps.bets.services.alerts import ALERT, AlertService, FavoriteService
from grandstand.apps.bets.services.audit import PredictionAudit
from grandstand.apps.bets.services.backtests import BacktestService
from grandstand.apps.bets.services.benny import BennyBankroll, BennyService
from grandstand.apps.bets.services.benny_trader import BennyOpinions, BennyTrader
from grandstand.apps.bets.services.database import Database
from grandstand.apps.bets.services.forecasts import HistoryLoader
from grandstand.apps.bets.services.games import GameBoard, GameSearch
from grandstand.apps.bets.services.ingest.odds_collector import OddsCleanup, OddsCollector, OddsFeed
from grandstand.apps.bets.services.ingest.outcome_collector import OutcomeCollector
from grandstand.apps.bets.services.ingest.stats_collector import (
    FileImporter,
    StatsCollector,
    StatsFeed,
)
from grandstand.apps.bets.services.ledger import LedgerService, LimitService
from grandstand.apps.bets.services.line_shopping import LineShopping
from grandstand.apps.bets.services.predictions import AnalysisGenerator, PredictionService
from grandstand.apps.bets.services.scoreboard import (
    CalibrationService,
    ModelAdjustmentCalculator,
    Scoreboard,
)
from grandstand.apps.bets.services.user_models import (
    BetsPersonalData,
    DatasetService,
    UserModelService,
    UserModelWeightAdjuster,
)
from grandstand.apps.bets.services.wagers import WagerService
from grandstand.apps.bets.settings import BetsSettings
from grandstand.kit.app import AppResources, AppServices

if TYPE_CHECKING:
    from grandstand.kit.app import ExchangePrices
    from grandstand.kit.cursors import Cursors
    from grandstand.kit.events import Events
    from grandstand.kit.live import Publisher
    from grandstand.kit.llm import Llm
    from grandstand.kit.notify import Notifier
    from grandstand.kit.outbox import Outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Bets:
    """The services of bets.

        page = await bets.games.upcoming("basketball_nba", limit=10)
        wager = await bets.wagers.record(caller, WagerRequest(...))

    Wagers, limits, models, datasets, backtests and favorites belong to their owner: to everybody
    else they do not exist.
    """

    settings: BetsSettings
    cursors: Cursors
    now: Callable[[], datetime]
    games: GameBoard
    search: GameSearch
    line_shopping: LineShopping
    predictions: PredictionService
    scoreboard: Scoreboard
    adjustments: ModelAdjustmentCalculator
    calibration: CalibrationService
    audit: PredictionAudit
    user_models: UserModelService
    weight_adjuster: UserModelWeightAdjuster
    datasets: DatasetService
    backtests: BacktestService
    wagers: WagerService
    limits: LimitService
    ledger: LedgerService
    benny: BennyService
    benny_trader: BennyTrader
    favorites: FavoriteService
    alerts: AlertService
    personal_data: BetsPersonalData
    odds_collector: OddsCollector
    odds_cleanup: OddsCleanup
    outcome_collector: OutcomeCollector
    stats_collector: StatsCollector
    file_importer: FileImporter
    analysis_generator: AnalysisGenerator


def build(resources: AppResources) -> AppServices[Bets]:
    """Build the services from what the platform provides."""
    settings = resources.settings or BetsSettings()
    bets = build_bets(
        db=Database(store=resources.store, clock=resources.clock, random=resources.random),
        settings=settings,
        llm=resources.llm,
        outbox=resources.outbox,
        notifier=resources.notifier,
        events=resources.events,
        publisher=resources.publisher,
        cursors=resources.cursors,
        owner=f"bets-{resources.random.getrandbits(64):x}",
        odds_feed=_odds_feed(resources, settings),
        stats_feeds=_stats_feeds(resources, settings),
        exchange_prices=resources.exchange_prices,
    )
    return app_services(bets)


def app_services(bets: Bets) -> AppServices[Bets]:
    """Return the services with the functions the platform calls."""
    return AppServices(
        services=bets,
        home_card=bets.search.home_card,
        search=bets.search.search,
        calibration=bets.calibration.series,
        personal_data=bets.personal_data,
        outbox_handlers={ALERT: bets.alerts.deliver},
    )


def build_bets(
    *,
    db: Database,
    settings: BetsSettings,
    llm: Llm,
    outbox: Outbox,
    notifier: Notifier,
    events: Events,
    publisher: Publisher,
    cursors: Cursors,
    owner: str,
    odds_feed: OddsFeed | None = None,
    stats_feeds: tuple[StatsFeed, ...] = (),
    exchange_prices: ExchangePrices | None = None,
) -> Bets:
    """Connect the services with each other.

    Without `odds_feed` no odds are collected; everything else works. `owner` identifies this
    process among those that share the store.
    """
    ledger = LedgerService(db)
    history = HistoryLoader(db=db, settings=settings)
    predictions = PredictionService(db=db, settings=settings)
    line_shopping = LineShopping(db=db, settings=settings)
    datasets = DatasetService(db=db, settings=settings)
    user_models = UserModelService(db=db, settings=settings)
    limits = LimitService(db=db, ledger=ledger)
    adjustments = ModelAdjustmentCalculator(db=db, settings=settings)
    stats_collector = StatsCollector(db=db, settings=settings, feeds=stats_feeds)
    wagers = WagerService(db=db, ledger=ledger, limits=limits, publisher=publisher, events=events)
    analysis_generator = AnalysisGenerator(
        db=db, settings=settings, publisher=publisher, history=history, datasets=datasets
    )
    scoreboard = Scoreboard(
        db=db, settings=settings, adjustments=adjustments, user_models=user_models
    )
    bankroll = BennyBankroll(db=db, settings=settings, ledger=ledger, events=events)
    benny_trader = BennyTrader(
        db=db,
        settings=settings,
        bankroll=bankroll,
        opinions=BennyOpinions(db=db, llm=llm),
        history=history,
        analysis_generator=analysis_generator,
        publisher=publisher,
        owner=owner,
    )
    return Bets(
        settings=settings,
        cursors=cursors,
        now=db.now,
        games=GameBoard(
            db=db,
            settings=settings,
            predictions=predictions,
            exchange_prices=exchange_prices,
        ),
        search=GameSearch(db=db, settings=settings),
        line_shopping=line_shopping,
        predictions=predictions,
        scoreboard=scoreboard,
        adjustments=adjustments,
        calibration=CalibrationService(db=db, settings=settings, scoreboard=scoreboard),
        audit=PredictionAudit(db=db, settings=settings, history=history),
        user_models=user_models,
        weight_adjuster=UserModelWeightAdjuster(db=db, settings=settings, history=history),
        datasets=datasets,
        backtests=BacktestService(
            db=db, settings=settings, user_models=user_models, datasets=datasets, history=history
        ),
        wagers=wagers,
        limits=limits,
        ledger=ledger,
        benny=BennyService(db=db, settings=settings, bankroll=bankroll),
        benny_trader=benny_trader,
        favorites=FavoriteService(db=db, settings=settings),
        alerts=AlertService(
            db=db,
            settings=settings,
            history=history,
            line_shopping=line_shopping,
            outbox=outbox,
            notifier=notifier,
            events=events,
        ),
        personal_data=BetsPersonalData(db=db, datasets=datasets),
        odds_collector=OddsCollector(db=db, settings=settings, publisher=publisher, feed=odds_feed),
        odds_cleanup=OddsCleanup(db=db, settings=settings),
        outcome_collector=OutcomeCollector(
            db=db,
            settings=settings,
            odds_feed=odds_feed,
            stats_feeds=stats_feeds,
            benny_trader=benny_trader,
            wagers=wagers,
        ),
        stats_collector=stats_collector,
        file_importer=FileImporter(db=db, settings=settings, stats_collector=stats_collector),
        analysis_generator=analysis_generator,
    )


def _odds_feed(resources: AppResources, settings: BetsSettings) -> OddsFeed | None:
    key = settings.odds_key
    if key is None or not key.get_secret_value():
        return None
    from grandstand.apps.bets.sources.odds_api import OddsApiClient

    return OddsApiClient(
        resources.web,
        resources.clock,
        url=settings.odds_url,
        key=key.get_secret_value(),
        reserve=settings.odds_reserve,
    )


def _stats_feeds(resources: AppResources, settings: BetsSettings) -> tuple[StatsFeed, ...]:
    feeds: list[StatsFeed] = []
    if settings.stats_folder is not None:
        from grandstand.apps.bets.sources.data_files import StatsFolder

        feeds.append(StatsFolder(settings.stats_folder))
    if settings.espn_url:
        from grandstand.apps.bets.sources.espn import EspnClient

        feeds.append(EspnClient(resources.web, resources.clock, url=settings.espn_url))
    return tuple(feeds)
