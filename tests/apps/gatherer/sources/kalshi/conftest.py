"""An exchange on loopback that checks signatures, and who may ask it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange as Simulated
from grandstand.simulators.exchange.server import ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig

CLOCK = SystemClock()
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
).decode()
PUBLIC = (
    KEY.public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    .decode()
)


@dataclass(frozen=True)
class Stage:
    """The exchange, its world, and where it is."""

    simulated: Simulated
    world: World
    address: str

    @property
    def rest_url(self) -> str:
        return f"http://{self.address}/trade-api/v2"

    @property
    def ws_url(self) -> str:
        return f"ws://{self.address}/trade-api/ws/v2"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    world = World(CLOCK, WorldConfig(markets=40, depth=6))
    rules = ExchangeRules(keys={"key-1": PUBLIC}, budget=RequestBudget(read_per_second=2000))
    simulated = Simulated(world, CLOCK, rules)
    async with simulated.serve() as address:
        yield Stage(simulated, world, address)


@pytest.fixture
async def web() -> AsyncIterator[SourceRegistry]:
    async with SourceRegistry(clock=CLOCK, random=Random(1), metrics=Metrics()) as web:
        yield web


@pytest.fixture
def signer() -> Signer:
    return Signer.from_pem("key-1", PEM, CLOCK)
