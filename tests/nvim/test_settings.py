"""The options as the host reads them, and the log they ask for."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from eca_nvim.nvim.logs import LARGEST, ROOT, open_log
from eca_nvim.nvim.settings import Settings, read_settings


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, Settings()),
        ({"server": [], "icons": [], "diagnostics": []}, Settings()),
        ({"server": {"command": ["eca", "server"]}}, Settings(("eca", "server"))),
        ({"server": {"command": []}}, Settings()),
        ({"server": {"env": {"A": 1}}}, Settings(server_environment={"A": "1"})),
        ({"diagnostics": {"base": 0}}, Settings(diagnostics_base=0)),
        ({"diagnostics": {"base": 7}}, Settings()),
        ({"icons": {"done": "+"}}, Settings(icons={"done": "+"})),
        ({"log_path": "/l", "log_level": "warn"}, Settings(log_path="/l", log_level="warning")),
        ({"log_level": "debug"}, Settings(log_level="debug")),
        ({"log_level": "loud"}, Settings()),
    ],
)
def test_options_become_settings(options: dict[str, object], settings: Settings) -> None:
    assert read_settings(options) == settings


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """Give the package's logger, put back as it was."""
    logger = logging.getLogger(ROOT)
    yield logger
    open_log(Settings())
    logger.propagate = True


def test_what_is_logged_is_in_the_file(tmp_path: Path, logger: logging.Logger) -> None:
    path = tmp_path / "new" / "eca.log"
    open_log(Settings(log_path=str(path), log_level="info"))
    logger.debug("too much")
    logging.getLogger(f"{ROOT}.chat").info("hello")
    assert "too much" not in path.read_text()
    assert "INFO" in path.read_text()
    assert "eca_nvim.chat: hello" in path.read_text()


def test_the_log_starts_anew_before_it_grows_large(tmp_path: Path, logger: logging.Logger) -> None:
    path = tmp_path / "eca.log"
    open_log(Settings(log_path=str(path)))
    for _ in range(5):
        logger.error("x" * (LARGEST // 2))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 2 * LARGEST
    assert sorted(file.name for file in tmp_path.iterdir()) == ["eca.log", "eca.log.1"]


def test_a_log_that_cannot_be_written_is_a_fault(tmp_path: Path, logger: logging.Logger) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FileExistsError):
        open_log(Settings(log_path=str(tmp_path / "file" / "eca.log")))
