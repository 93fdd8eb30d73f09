"""Kept here: every setting of the house, read once from a file and the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)


def settings_file() -> Path:
    """Answer where the settings file is looked for."""
    return Path(platformdirs.user_config_dir("grandstand")) / "settings.toml"


class Settings(BaseSettings):
    """What can be set, by `GRANDSTAND_<NAME>` in the environment or `<name>` in settings.toml."""

    model_config = SettingsConfigDict(env_prefix="GRANDSTAND_", frozen=True, extra="forbid")

    data_folder: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("grandstand")),
        description="Where everything embedded is kept.",
    )
    tables: str = Field(
        default="sqlite",
        description=(
            "Where tables live: sqlite (in the data folder), sqlite:PATH, dynamodb:REGION or "
            "dynamodb:http://HOST:PORT."
        ),
    )
    tables_prefix: str = Field(default="", description="Put before every table's name.")
    tables_environment: str = Field(
        default="local", description="Stands for {environment} in table names."
    )
    tables_names: dict[str, str] = Field(
        default_factory=dict,
        description='Other names for single tables, as JSON: {"keiba_data": "my_races"}.',
    )
    tables_durability: Literal["process", "power"] = Field(
        default="process",
        description=(
            "What an acknowledged write survives, embedded: process (a crash of the program) or "
            "power (of the machine; slower)."
        ),
    )
    tables_transactions: bool = Field(
        default=True,
        description="Switch off where DynamoDB's transactions are missing (ScyllaDB Alternator).",
    )

    tables_access_keys: dict[str, SecretStr] = Field(
        default_factory=dict,
        description=(
            'Who may use `tables serve`, as JSON: {"KEY ID": "SECRET"}. Anyone on this machine '
            "when it is empty."
        ),
    )

    series: SecretStr = Field(
        default=SecretStr("chunks"),
        description=(
            "Where time series live: chunks (files in the data folder), or a PostgreSQL connection "
            "string; TimescaleDB is used where it is found."
        ),
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let an argument win over the environment, and the environment over the file."""
        file = TomlConfigSettingsSource(settings_cls, settings_file())
        return (init_settings, env_settings, file)
