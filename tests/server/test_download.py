"""Downloads from servers that stall, fail for a moment, or send too much."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.https_server import FILLER, zipped
from tests.server.test_installing import Web

from eca_nvim.server import download
from eca_nvim.server.download import NotFetched, save, unpack


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    server = Web(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


@pytest.fixture
def base(web: Web, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of the server, which is trusted, and asked again at once."""
    for key, value in web.trust.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(download, "PAUSES", (0.0,))
    return f"https://127.0.0.1:{web.port}"


def no_progress(_there: int, _total: int | None) -> None:
    """Show nothing."""


def test_a_server_that_says_nothing_is_given_up(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "PATIENCE", 0.1)
    with pytest.raises(NotFetched, match=r"127\.0\.0\.1 .*\(2 attempts\)"):
        save(f"{base}/silent/x.zip", tmp_path / "x", no_progress)


def test_a_server_that_fails_for_a_moment_is_asked_again(base: str, tmp_path: Path) -> None:
    save(f"{base}/flaky/x.zip", tmp_path / "x", no_progress)
    assert (tmp_path / "x").stat().st_size > len(FILLER)


@pytest.mark.parametrize("row", ["good", "endless"], ids=["said", "not said"])
def test_what_is_too_large_is_not_kept(
    row: str, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 100_000)
    with pytest.raises(NotFetched, match="larger than"):
        save(f"{base}/{row}/x.zip", tmp_path / "x", no_progress)
    there = (tmp_path / "x").stat().st_size if (tmp_path / "x").exists() else 0
    assert there <= 100_000 + download.PIECE


def test_an_archive_that_holds_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 100_000)
    archive, folder = tmp_path / "a", tmp_path / "to"
    folder.mkdir()
    archive.write_bytes(zipped(("big", FILLER, 0o100644)))
    with pytest.raises(NotFetched, match="the archive holds more than"):
        unpack(archive, "a.zip", folder, "big")
