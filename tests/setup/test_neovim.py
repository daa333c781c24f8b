"""Which Neovim is used, and which unpacked one is refused."""

import io
import os
import subprocess
from pathlib import Path

import pytest
from tests.support.launch import VERSIONS, neovim_binary

from scripts.setup import debian, neovim
from scripts.setup.neovim import FOR_CHAT, RELEASES, on_path, parse_version
from scripts.setup.progress import Progress, SetupError


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("NVIM v0.12.4\nBuild type: Release\n", (0, 12)),
        ("NVIM v0.10.0-dev-123+gabc\n", (0, 10)),
        ("NVIM v1.0.0\n", (1, 0)),
        ("warning: a locale is missing\nNVIM v0.11.5\n", (0, 11)),
        ("VIM - Vi IMproved 9.0\n", None),
        ("", None),
    ],
)
def test_parse_version(said: str, version: tuple[int, int] | None) -> None:
    assert parse_version(said) == version


@pytest.mark.parametrize("version", ["0.10.0", "0.9.5", "0.7.2", "1.0.0"])
def test_own_neovim_is_taken_from_0_10_on(tmp_path: Path, version: str) -> None:
    nvim = _says(tmp_path / "nvim", f"NVIM v{version}")
    assert on_path(str(tmp_path)) == (nvim if version in {"0.10.0", "1.0.0"} else None)


def test_no_neovim_on_path(tmp_path: Path) -> None:
    assert on_path(str(tmp_path)) is None


def test_own_neovim_that_does_not_start(tmp_path: Path) -> None:
    nvim = tmp_path / "nvim"
    nvim.write_text("#!/no/such/interpreter\n")
    nvim.chmod(0o755)
    assert on_path(str(tmp_path)) is None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let Debian's package be a script that says the version in `brings`; return the cache."""

    def unpack(progress: Progress, suite: str, packages: list[str], into: Path) -> None:
        assert (suite, packages) == (FOR_CHAT.suite, ["neovim"])
        libraries = into / "usr" / "lib" / "x86_64-linux-gnu"
        libraries.mkdir(parents=True)
        (libraries / "ld-linux-x86-64.so.2").touch()
        (into / "usr" / "bin").mkdir()
        _says(into / "usr" / "bin" / "nvim", (tmp_path / "brings").read_text())

    monkeypatch.setattr(debian, "unpack", unpack)
    (tmp_path / "patchelf").write_text(f'#!/bin/sh\necho "$*" > {tmp_path}/patchelf.txt\n')
    (tmp_path / "patchelf").chmod(0o755)
    return tmp_path / "cache"


def test_install_adapts_the_binary_to_its_folder(cache: Path) -> None:
    (cache.parent / "brings").write_text("NVIM v0.12.9")
    _install(cache)
    folder = cache / "neovim" / "0.12.4"
    assert os.access(folder / "bin" / "nvim", os.X_OK)
    libraries = folder / "usr" / "lib" / "x86_64-linux-gnu"
    words = (cache.parent / "patchelf.txt").read_text()
    assert f"--set-interpreter {libraries}/ld-linux-x86-64.so.2 --force-rpath" in words
    assert f"--set-rpath {libraries} " in words


def test_install_refuses_another_series(cache: Path) -> None:
    (cache.parent / "brings").write_text("NVIM v0.13.0")
    with pytest.raises(SetupError, match=r"forky should have Neovim 0\.12\.4 but has 0\.13: "):
        _install(cache)
    assert list((cache / "neovim").iterdir()) == []


def test_install_refuses_one_that_does_not_start(cache: Path) -> None:
    (cache.parent / "brings").write_text("Segmentation fault")
    with pytest.raises(SetupError, match="has one that does not start"):
        _install(cache)


def test_unpacked_neovim_brings_its_parsers(nvim_version: str) -> None:
    parse = "lua =vim.treesitter.get_string_parser('# a\\n', 'markdown'):parse()[1]:root():type()"
    nvim = neovim_binary(nvim_version)
    said = subprocess.run(
        [nvim, "--clean", "--headless", "-c", parse, "-c", "quit"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "document" in said.stderr


def test_tests_run_on_the_releases_that_are_unpacked() -> None:
    assert tuple(release.version for release in RELEASES) == VERSIONS


def _install(cache: Path) -> None:
    progress = Progress(cache.parent / "setup.log", io.StringIO())
    neovim.install(progress, FOR_CHAT, cache, cache.parent / "patchelf")


def _says(path: Path, version: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return path
