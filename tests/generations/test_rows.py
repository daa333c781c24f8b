"""The documents of older generations, row by row, with servers of their time.

The rows are data, in `rows_*.py`. A session with a server process plays them, without Neovim.
`tests/ui/test_document_rows.py` plays those that need Neovim.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from tests.generations.row import Row
from tests.generations.screen import TIMEOUT
from tests.generations.stage import Stage
from tests.generations.table import COUNTS, ROWS
from tests.support.workspace import make_workspace

from eca_nvim.agents.eca import introduction
from eca_nvim.chat.handlers import turn
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.session import chats

pytestmark = pytest.mark.anyio

SHARED = Row(names="", says="whatever rows do not need a stage of their own for")


def cases() -> Iterator[str]:
    """Return the rows to play here."""
    return (name for name, row in ROWS.items() if not row.drawn)


class Stages:
    """One stage for each document, and one for each row that needs its own."""

    def __init__(self, folder: Path) -> None:
        self._folders = (folder / str(number) for number in count(1))
        self._shared: dict[str, Stage] = {}

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[Stage]:
        """Return the stage for a row; a stage on which a row failed is not used again."""
        document, row = name[:3], ROWS[name]
        if row.fresh or row.words or row.kept or not row.repo_map:
            stage = self._open(document, row)
        else:
            opened = self._shared.pop(document, None)
            stage = self._open(document, SHARED) if opened is None else opened
        try:
            yield stage
        except BaseException:
            await stage.close()
            raise
        if stage.row is SHARED:
            self._shared[document] = stage
        else:
            await stage.close()

    def _open(self, document: str, row: Row) -> Stage:
        folder = make_workspace(next(self._folders) / "workspace")
        scripts = {key: it.server for key, it in ROWS.items() if key.startswith(document)}
        return Stage(document, folder, scripts, row)

    async def close(self) -> None:
        """End them all."""
        for stage in self._shared.values():
            await stage.close()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run async tests on the loop that the host uses."""
    return "asyncio"


@pytest.fixture(scope="module")
async def stages(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stages]:
    """Run sessions as long as the rows are played."""
    stages = Stages(tmp_path_factory.mktemp("rows"))
    yield stages
    await stages.close()


@pytest.mark.parametrize("name", [*cases()])
async def test_row(name: str, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[name]
    is_mute = name.startswith("002") or "no-config" in row.words
    monkeypatch.setattr(introduction, "SILENCE_SECONDS", 0.1 if is_mute else TIMEOUT)
    monkeypatch.setattr("eca_nvim.agents.eca.agent.EXIT_S", TIMEOUT)
    if "mute-stop" in row.words:
        monkeypatch.setattr(chats, "REFRESH_INTERVAL", 0.05)
        monkeypatch.setattr(turn, "PATIENCE_MS", {Turn.STOPPING: 100})
    async with stages.stage(name) as stage:
        heard = len(stage.messages()) if row.does else 0
        stage.forget()
        await stage.do(name, row)
        faults = stage.seen(name, heard).faults(row)
    assert not faults, "\n".join(faults)


def test_every_row_of_the_documents_is_here() -> None:
    every = {f"{it}-{number}" for it, most in COUNTS.items() for number in range(1, most + 1)}
    assert {name.rstrip("bcdef") for name in ROWS} == every
