"""All settings, read once from a file and the environment."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Literal

import platformdirs
from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.core.errors import InvalidInput
from grandstand.kit.settings import Section

PREFIX: Final = "GRANDSTAND_"


class SettingsInvalid(InvalidInput):
    """A setting is invalid."""

    code = "settings-invalid"

    exit_code = 78


def settings_file() -> Path:
    """Return the path of the settings file: in GRANDSTAND_HOME if that is set."""
    home = os.environ.get(f"{PREFIX}HOME")
    return Path(home or platformdirs.user_config_dir("grandstand")) / "settings.toml"


class ServerSettings(Section):
    """The web server."""

    host: str = Field(default="127.0.0.1", description="The address to bind to.")
    port: int = Field(default=8700, ge=0, le=65535, description="The port; 0 means any free port.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description=(
            "Host names of this server besides its own address, such as stand.example.org, as JSON."
        ),
    )
    https: bool = Field(default=False, description="Whether clients use https, through a proxy.")
    trusted_proxies: tuple[str, ...] = Field(
        default=(),
        description=(
            "Addresses or networks of proxies on other machines or in other containers, such as "
            "10.89.0.0/24, as JSON; their X-Forwarded-For header gives the client's address."
        ),
    )
    body_bytes: int = Field(
        default=1_000_000, gt=0, description="The largest request body in bytes."
    )
    request_seconds: float = Field(default=30.0, gt=0, description="The timeout of a request.")
    header_bytes: int = Field(
        default=65_536, ge=1024, description="The largest request header in bytes."
    )
    header_seconds: float = Field(
        default=10.0, gt=0, description="How long a client may take to send a request header."
    )
    connections: int = Field(
        default=10_000,
        gt=0,
        description=(
            "The most open connections. The limit of open files of the process, less 256, also "
            "applies."
        ),
    )
    connections_per_address: int = Field(
        default=1_000,
        gt=0,
        description=(
            "The most open connections of one address (a /64 network for IPv6). With https, a "
            "proxy on this machine is not limited."
        ),
    )
    requests_per_minute: int = Field(
        default=600,
        gt=0,
        description="Requests per caller and minute; the local owner is not limited.",
    )
    secret: SecretStr | None = Field(
        default=None,
        description=(
            "The secret that signs cursors, the same for all instances. Without it, one is "
            "generated and stored in the home folder."
        ),
    )

    @field_validator("trusted_proxies")
    @classmethod
    def check_proxies(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse anything but addresses and networks, and networks that contain everybody."""
        for text in given:
            if ip_network(text).prefixlen == 0:
                raise ValueError(f"{text} contains every address; name the proxies' own network")
        return given

    @property
    def published(self) -> bool:
        """Whether other machines may reach the server, through a proxy or by a name."""
        return self.https or bool(self.allowed_hosts) or bool(self.trusted_proxies)


class AuthSettings(Section):
    """Tokens of an identity provider (OIDC, including Amazon Cognito)."""

    issuer: str = Field(default="", description="The issuer's URL; without it tokens are refused.")
    client_ids: tuple[str, ...] = Field(
        default=(), description="Accepted audiences (aud or client_id), as JSON."
    )
    algorithms: tuple[str, ...] = Field(
        default=("RS256", "ES256"), description="Accepted signature algorithms, as JSON."
    )
    groups_claim: str = Field(
        default="cognito:groups", description="The claim that lists a user's groups."
    )
    admin_group: str = Field(default="admin", description="The group of administrators.")


class LlmSettings(Section):
    """The language model."""

    provider: Literal["offline", "bedrock", "openai"] = Field(
        default="offline",
        description="offline (none), bedrock (Amazon Bedrock) or openai (any compatible endpoint).",
    )
    model: str = Field(default="", description="The provider's model id.")
    region: str = Field(default="", description="The AWS region, for bedrock.")
    endpoint: str = Field(
        default="", description="The URL up to /v1, for openai; another endpoint, for bedrock."
    )
    key: SecretStr | None = Field(default=None, description="The key, for openai.")
    seconds: float = Field(default=60.0, gt=0, description="The timeout of one reply.")
    daily_cents: int = Field(default=100, ge=0, description="The daily budget in cents.")
    input_microdollars: int = Field(
        default=3, ge=0, description="Cost of an input token in microdollars."
    )
    output_microdollars: int = Field(
        default=15, ge=0, description="Cost of an output token in microdollars."
    )


class NotifySettings(Section):
    """Where notifications are sent."""

    webhooks: tuple[SecretStr, ...] = Field(
        default=(), description="Webhook URLs for notifications, as a JSON list."
    )
    smtp: SecretStr | None = Field(
        default=None, description="A mail server: smtp://USER:PASSWORD@HOST:587 or smtps://…"
    )
    mail_from: str = Field(default="", description="The sender of notification emails.")
    mail_to: tuple[str, ...] = Field(default=(), description="The recipients, as JSON.")


class LogSettings(Section):
    """Log level and format."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The lowest level that is logged."
    )
    form: Literal["auto", "console", "json"] = Field(
        default="auto", description="auto means console on a terminal and json otherwise."
    )


class DemoSettings(Section):
    """Whether sources that are not connected are simulated."""

    play: Literal["auto", "on", "off"] = Field(
        default="auto",
        description=(
            "Whether sources that are not connected are simulated: on, off, or auto (on if tables "
            "and series are stored locally). Simulated data is stored apart, in the folder "
            "simulated of the home folder."
        ),
    )


class Settings(BaseSettings):
    """All settings, from `GRANDSTAND_<NAME>` in the environment or `<name>` in settings.toml."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        frozen=True,
        extra="forbid",
    )

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("grandstand")),
        description="The folder of local data; if set in the environment, also of settings.toml.",
    )
    tables: str = Field(
        default="sqlite",
        description=(
            "Where tables are stored: sqlite (in the home folder), sqlite:PATH, dynamodb (in the "
            "configured AWS region), dynamodb:REGION or dynamodb:http://HOST:PORT."
        ),
    )
    tables_prefix: str = Field(default="", description="A prefix of all table names.")
    tables_environment: str = Field(
        default="local", description="Replaces {environment} in table names."
    )
    tables_names: dict[str, str] = Field(
        default_factory=dict,
        description='Names of individual tables, as JSON: {"keiba_data": "my_races"}.',
    )
    tables_durability: Literal["process", "power"] = Field(
        default="process",
        description=(
            "What an acknowledged write survives, embedded: process (a crash of the program) or "
            "power (of the machine; slower)."
        ),
    )
    tables_access_keys: dict[str, SecretStr] = Field(
        default_factory=dict,
        description=(
            'Access keys of `tables serve`, as JSON: {"KEY ID": "SECRET"}. If empty, anyone on '
            "this machine may use it."
        ),
    )

    series: SecretStr = Field(
        default=SecretStr("chunks"),
        description=(
            "Where time series are stored: chunks (files in the home folder), or a PostgreSQL "
            "connection string; TimescaleDB is used if it is installed."
        ),
    )
    series_wide: bool = Field(
        default=False,
        description=(
            "Compress for thousands of tickers per chunk, on TimescaleDB: ordered by ticker "
            "instead of one segment per ticker."
        ),
    )

    server: ServerSettings = Field(default_factory=ServerSettings, description="The web server.")
    auth: AuthSettings = Field(default_factory=AuthSettings, description="Tokens.")
    llm: LlmSettings = Field(default_factory=LlmSettings, description="The language model.")
    notify: NotifySettings = Field(default_factory=NotifySettings, description="Alerts.")
    log: LogSettings = Field(default_factory=LogSettings, description="Logs.")
    demo: DemoSettings = Field(default_factory=DemoSettings, description="Simulated sources.")

    bets: BetsSettings = Field(default_factory=BetsSettings, description="Odds and models.")
    cricket: CricketSettings = Field(
        default_factory=CricketSettings, description="Cricket matches."
    )
    gatherer: GathererSettings = Field(
        default_factory=GathererSettings, description="The exchange recorder."
    )
    keiba: KeibaSettings = Field(default_factory=KeibaSettings, description="Racing data.")
    trainer: TrainerSettings = Field(default_factory=TrainerSettings, description="The trainer.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Give arguments precedence over the environment, and the environment over the file."""
        file = TomlConfigSettingsSource(settings_cls, settings_file())
        return (init_settings, env_settings, file)


def read_settings() -> Settings:
    """Read the settings. Raises SettingsInvalid with a sentence for each invalid one."""
    problems = [_unknown(name) for name in _unknown_names()]
    if problems:
        raise SettingsInvalid("\n".join(problems))
    try:
        return Settings()
    except ValidationError as fault:
        raise SettingsInvalid("\n".join(_sentences(fault))) from fault
    except tomllib.TOMLDecodeError as fault:
        raise SettingsInvalid(f"{settings_file()} is not TOML: {fault}") from fault


def setting_names() -> dict[str, str]:
    """Return the name of every setting in settings.toml and in the environment."""
    return {".".join(path): PREFIX + "_".join(path).upper() for path, _ in _leaves(Settings, ())}


def _leaves(
    model: type[BaseModel], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _leaves(kind, (*path, name))
        else:
            yield (*path, name), model


def _unknown_names() -> list[str]:
    known = set(setting_names().values())
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def _unknown(name: str) -> str:
    return f"Unknown setting {name}{_meant(name, [*setting_names().values()])}"


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return (
        f"; did you mean {near[0]}?" if near else ". `grandstand config show` lists all settings."
    )


def _sentences(fault: ValidationError) -> Iterator[str]:
    for problem in fault.errors():
        place = ".".join(str(step) for step in problem["loc"])
        if problem["type"] == "extra_forbidden":
            yield f"Unknown setting {place}{_meant(place, [*setting_names()])}"
        else:
            yield f"Invalid setting {place}: {problem['msg']}"
