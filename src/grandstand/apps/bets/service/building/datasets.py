"""Kept here: tables of figures people bring, checked as a whole before anything is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, time
from typing import Final

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.model.known.facts import CustomRow
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.model_values import DatasetView
from grandstand.apps.bets.service.refusals import DatasetRefused, DatasetUnknown
from grandstand.apps.bets.sources.custom_files import CustomLine, parse_custom
from grandstand.apps.bets.store import Dataset, DatasetPart
from grandstand.base.errors import InvalidInput
from grandstand.base.ids import new_id
from grandstand.kit.who.caller import Caller

_MOST_BYTES: Final = 4_000_000
_MOST_TABLES: Final = 20
_A_PART: Final = 200
_LONGEST_NAME: Final = 60


class Datasets:
    """Keeps people's tables; what is somebody else's is not found."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def of(self, caller: Caller) -> tuple[DatasetView, ...]:
        """Answer a person's tables by name."""
        found = [view_of(row) async for row in self._means.each(Dataset.of_user(caller.user_id))]
        return tuple(sorted(found, key=lambda each: (each.name, each.dataset_id)))

    async def add(self, caller: Caller, name: str, sport: str, content: bytes) -> DatasetView:
        """Keep a table; raise DatasetRefused saying what is wrong, and keep nothing then.

        The rows are written before the table is, so that one without rows is never seen.
        """
        if not name.strip() or len(name) > _LONGEST_NAME:
            message = f"A table's name has 1 to {_LONGEST_NAME} letters"
            raise DatasetRefused(message)
        if len(content) > _MOST_BYTES:
            message = f"The file has {len(content)} bytes; {_MOST_BYTES} are taken"
            raise DatasetRefused(message)
        if len(await self.of(caller)) >= _MOST_TABLES:
            message = f"There is room for {_MOST_TABLES} tables: remove one first"
            raise DatasetRefused(message)
        try:
            most = self._means.settings.dataset_rows
            table = await asyncio.to_thread(parse_custom, content, name, most)
        except InvalidInput as fault:
            raise DatasetRefused(str(fault)) from fault
        self._means.sport(sport)
        dataset_id = new_id(self._means.clock, self._means.random)
        parts = [table.rows[at : at + _A_PART] for at in range(0, len(table.rows), _A_PART)]
        await self._means.store.write_many(
            DatasetPart(dataset_id=dataset_id, part=f"{number:06d}", content=_written(lines)).keep()
            for number, lines in enumerate(parts)
        )
        row = Dataset(
            user_id=caller.user_id,
            dataset_id=dataset_id,
            name=name.strip(),
            sport=sport,
            subject=table.kind,
            columns=table.columns,
            rows=len(table.rows),
            parts=len(parts),
            created_at=self._means.now(),
        )
        await self._means.store(row.create())
        return view_of(row)

    async def remove(self, caller: Caller, dataset_id: str) -> None:
        """Remove a table, then its rows; raise DatasetUnknown."""
        if await self._means.store(Dataset.remove(caller.user_id, dataset_id)) is None:
            message = f"There is no table of figures {dataset_id}"
            raise DatasetUnknown(message)
        await self.drop_rows(dataset_id)

    async def drop_rows(self, dataset_id: str) -> None:
        """Remove the rows of a table that is gone."""
        parts = [each async for each in self._means.each(DatasetPart.of_dataset(dataset_id))]
        await self._means.store.write_many(each.drop() for each in parts)

    async def facts(self, user_id: str, dataset_id: str) -> AsyncIterator[CustomRow]:
        """Answer the rows of a person's table as facts, known once the day they are of is over.

        A row without a date is known since the table was brought, and so never to the past.
        """
        table = await self._means.store(Dataset.one(user_id, dataset_id))
        if table is None:
            return
        async for part in self._means.each(DatasetPart.of_dataset(dataset_id)):
            for subject, on, figures in json.loads(part.content):
                at = table.created_at
                if on:
                    at = datetime.combine(datetime.fromisoformat(on).date(), time.max, UTC)
                yield CustomRow(dataset_id, slug(subject), figures, at, at)


def _written(lines: tuple[CustomLine, ...]) -> str:
    return json.dumps(
        [
            (
                line.subject,
                "" if line.on is None else line.on.isoformat(),
                {name: float(value) for name, value in line.figures.items()},
            )
            for line in lines
        ]
    )


def view_of(row: Dataset) -> DatasetView:
    """Answer a table as its owner sees it."""
    return DatasetView(
        row.dataset_id, row.name, row.sport, row.subject, row.columns, row.rows, row.created_at
    )
