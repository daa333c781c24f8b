"""The log: private, small, without keys, and written by both sides."""

import ast
import logging
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.launch import REPOSITORY
from tests.support.script import handshake, leave, stderr, turn
from tests.ui.talk import start_chat, wait_line

from eca_nvim.nvim.logs import LONGEST_RECORD_BYTES, MOST_LOG_BYTES, ROOT, open_log
from eca_nvim.redaction import Redactor

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

PATIENCE_S = 30


class Log:
    """The log of this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.redactor = Redactor()
        self.refused: list[OSError] = []
        self.logger = logging.getLogger(ROOT)

    def open(self, level: str = "warning") -> logging.Logger:
        """Open it, again if need be."""
        open_log(str(self.path), level, self.redactor, self.refused.append)
        return self.logger

    def is_private(self) -> bool:
        """Return whether only its owner can read the file and its folder."""
        modes = (self.path.stat().st_mode, self.path.parent.stat().st_mode)
        return tuple(map(stat.S_IMODE, modes)) == (0o600, 0o700)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """Return a log that is not there yet; the package's logger is put back as it was."""
    log = Log(tmp_path / "eca" / "eca.log")
    yield log
    open_log(None, "warning", Redactor(), log.refused.append)
    log.logger.propagate = True


def test_what_is_logged_is_in_the_file(log: Log) -> None:
    log.open("info").debug("too much")
    logging.getLogger(f"{ROOT}.chat").info("hello")
    assert "too much" not in log.path.read_text()
    assert "INFO" in log.path.read_text()
    assert "eca_nvim.chat: hello" in log.path.read_text()


def test_the_log_starts_anew_before_it_grows_large(log: Log) -> None:
    logger = log.open()
    for _ in range(40):
        logger.error("x" * LONGEST_RECORD_BYTES)
    files = list(log.path.parent.iterdir())
    assert sum(file.stat().st_size for file in files) <= 2 * MOST_LOG_BYTES
    assert sorted(file.name for file in files) == ["eca.log", "eca.log.1"]


@pytest.mark.parametrize("letter", ["é", "😀", "\udc80", "\n"])
def test_a_long_record_takes_no_more_room_whatever_is_in_it(log: Log, letter: str) -> None:
    logger = log.open()
    for number in range(20):
        logger.error("%d %s", number, letter * LONGEST_RECORD_BYTES)
    files = list(log.path.parent.iterdir())
    assert all(file.stat().st_size <= MOST_LOG_BYTES for file in files)
    assert sum(file.read_text().count(" ERROR ") for file in files) == 20


def test_a_long_record_is_cut_and_says_how_much_is_left_out(log: Log) -> None:
    log.open().error("%s", "x" * (10 << 20) + " API_KEY=abc123")
    written = log.path.read_text()
    kept, _, left_out = written.partition("… (")
    whole = kept[: kept.index("x")] + "x" * (10 << 20) + " API_KEY=[hidden]"
    assert len(kept) == LONGEST_RECORD_BYTES
    assert left_out == f"{len(whole) - len(kept)} more characters are left out)\n"


def test_a_key_across_the_cut_is_hidden_before(log: Log) -> None:
    log.open().error("%s", "x" * (LONGEST_RECORD_BYTES - 100) + " API_KEY=" + "abc123" * 99)
    assert "abc" not in log.path.read_text()


def test_only_the_first_line_of_a_record_is_not_indented(log: Log) -> None:
    log.open().error("one\n2026-01-01 00:00:00,000 INFO 1 forged\n")
    log.open().error("two", exc_info=ValueError("three\nfour"))
    lines = log.path.read_text().splitlines()
    assert [line.split(": ")[-1] for line in lines if not line.startswith(" ")] == ["one", "two"]
    assert "  2026-01-01 00:00:00,000 INFO 1 forged" in lines
    assert "  four" in lines


def test_a_log_that_another_process_puts_aside_goes_on_in_the_new_file(log: Log) -> None:
    logger = log.open()
    logger.error("one")
    log.path.replace(f"{log.path}.1")
    logger.error("two")
    assert "two" in log.path.read_text()


def test_the_log_is_private_also_when_it_was_not(log: Log) -> None:
    log.open().error("one")
    assert log.is_private()
    log.path.chmod(0o644)
    log.path.parent.chmod(0o755)
    log.open().error("two")
    assert log.is_private()


def test_keys_are_not_in_the_log(log: Log) -> None:
    logger = log.open("debug")
    log.redactor.hide("pass phrase")
    logger.info("stderr: %s", "API_KEY=abc123 and pass phrase")
    logger.debug("no use for %r", {"apiKey": "abc123", "said": "pass phrase\n"})
    logger.error("it failed", exc_info=ValueError("Bearer abc123"))
    written = log.path.read_text()
    assert "abc123" not in written
    assert "pass phrase" not in written
    assert "ValueError: Bearer [hidden]" in written


def test_a_log_that_cannot_be_written_is_told_once(log: Log, tmp_path: Path) -> None:
    (tmp_path / "eca").write_text("not a folder")
    logger = log.open()
    logger.error("one")
    logger.error("two")
    assert [type(fault) for fault in log.refused] == [FileExistsError]


# --- Neovim's side -------------------------------------------------------------------------------


def test_neovims_log_is_small_private_and_without_keys(nvim: Neovim) -> None:
    path = Path(nvim.lua("return require('eca.host.log').path()"))
    nvim.lua("for _ = 1, 40 do require('eca.host.log').write(('x'):rep(2 ^ 17)) end")
    nvim.lua("require('eca.host.log').write('API_KEY=abc123')")
    written = nvim.wait_log("view: API_KEY=[hidden]\n")
    assert sorted(file.name for file in path.parent.iterdir()) == ["eca.log", "eca.log.1"]
    assert sum(file.stat().st_size for file in path.parent.iterdir()) <= 2 * MOST_LOG_BYTES
    assert "abc123" not in written
    assert Log(path).is_private()


def test_neovims_lines_are_written_in_order_also_while_it_exits(nvim: Neovim) -> None:
    path = Path(nvim.lua("return require('eca.host.log').path()"))
    nvim.lua("for n = 1, 3 do require('eca.host.log').write('line ' .. n) end")
    lines = nvim.wait_log("line 3").splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["1", "2", "3"]
    nvim.lua(
        "vim.api.nvim_create_autocmd('VimLeavePre', "
        "{ callback = function() require('eca.host.log').write('the last') end })"
    )
    assert nvim.quit() == 0
    deadline = time.monotonic() + PATIENCE_S
    while "the last" not in path.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "the last" in path.read_text()


def test_neovim_tells_once_that_there_is_no_log(nvim: Neovim) -> None:
    path = Path(nvim.lua("return require('eca.host.log').path()"))
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.write_text("not a folder")
    nvim.lua("for _ = 1, 2 do require('eca.host.log').write('a line') end")
    nvim.wait_until("vim.fn.execute('messages'):find('nothing is saved')")
    assert nvim.messages().count("nothing is saved") == 1
    assert nvim.take_errors() == []


def test_the_last_words_of_a_server_are_shown_without_keys(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    words = stderr("API_KEY=abc123\nAKIAIOSFODNN7EXAMPLE\n")
    server = scripted_server(handshake(), turn(words, leave(3)))
    nvim = start_chat(start_nvim, server, settings={"log_level": "debug"})
    nvim.keys(":EcaChat go<CR>")
    wait_line(nvim, "the server ended")
    transcript = nvim.lua("return require('eca').transcript()")
    assert "API_KEY=[hidden]" in transcript
    assert "AKIA[hidden]" in transcript
    log = Path(nvim.lua("return require('eca.host.log').path()"))
    assert "stderr: API_KEY=[hidden]" in log.read_text()
    assert "abc123" not in log.read_text()
    assert Log(log).is_private()


LOADED = """
import sys
import eca_nvim.nvim.logs
print(*(it.__file__ for name, it in sys.modules.items() if name.startswith('eca_nvim')), sep='\\n')
"""


def test_what_writes_neovims_records_needs_no_new_python() -> None:
    """Else nobody could read why the host does not start."""
    folder = str(REPOSITORY / "rplugin" / "python3")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}){LOADED}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    paths = [Path(it) for it in told.stdout.splitlines()]
    assert {"logs.py", "redaction.py"} <= {it.name for it in paths}
    for path in paths:
        ast.parse(path.read_text(encoding="utf-8"), path.name, feature_version=(3, 8))
