"""Rows of the protocol's older documents that need Neovim (`tests/generations`)."""

import json
from pathlib import Path

import pytest
from tests.generations.rows_editor import DIAGNOSE
from tests.generations.seen import Seen
from tests.generations.table import ROWS
from tests.support.factories import StartNeovim
from tests.support.generations.prepared import GENERATIONS, prepare
from tests.ui.talk import lines_of, say, start_chat, wait_idle

pytestmark = pytest.mark.either_nvim

DOCUMENTS = dict(zip(("002", "000", "001"), GENERATIONS, strict=False))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_rows_that_neovim_decides(
    start_nvim: StartNeovim, tmp_path: Path, workspace: Path, document: str
) -> None:
    rows = {name: row for name, row in ROWS.items() if row.drawn and name.startswith(document)}
    script = tmp_path / "rows.json"
    script.write_text(json.dumps({name: row.server for name, row in rows.items()}))
    server = prepare(DOCUMENTS[document], tmp_path, f"rows={script}")
    nvim = start_chat(start_nvim, server)
    words = {"$folder": str(workspace), "$pid": nvim.pid}
    nvim.lua(DIAGNOSE)
    windows: dict[str, slice] = {}
    for name, row in rows.items():
        if row.server:
            heard = len(server.received())
            say(nvim, name)
            nvim.wait_for(lambda: len(server.received("chat/prompt")) == len(windows) + 1, name)
            wait_idle(nvim)
            windows[name] = slice(heard, len(server.received()))
    lines = "\n".join(lines_of(nvim))
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.quit()
    nvim.child.orphans(20)
    life = server.received()
    for name, row in rows.items():
        sent = life[windows.get(name, slice(None))]
        seen = Seen(words=words, sent=sent, life=life, folder=workspace, texts={"shown": lines})
        faults = seen.faults(row)
        assert not faults, "\n".join([name, *faults])
