"""How Neovim is found and isolated, and the workspace it starts in."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import launch
from tests.support.launch import FOLDERS, Launch, MissingNeovim, know_binary, neovim_binary
from tests.support.workspace import make_workspace


@pytest.fixture
def start(tmp_path: Path) -> Launch:
    return Launch("0.12.4", tmp_path / "home", tmp_path, marker="m", settings={"a": None, "b": 1})


def test_a_missing_neovim_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "REPOSITORY", tmp_path)
    with pytest.raises(MissingNeovim, match=r"no Neovim 0\.12\.4 at .*`make test` fetches it"):
        neovim_binary("0.12.4")


def test_any_neovim_can_be_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "OTHERS", {})
    nvim = tmp_path / "nvim"
    with pytest.raises(MissingNeovim, match="No such file"):
        know_binary(nvim)
    nvim.write_text("#!/bin/sh\necho NVIM v0.11.4\n")
    nvim.chmod(0o755)
    assert know_binary(nvim) == "0.11.4"
    assert neovim_binary("0.11.4") == nvim
    nvim.write_text("#!/bin/sh\necho VIM 9\n")
    with pytest.raises(MissingNeovim, match=r"is no Neovim: 'VIM 9"):
        know_binary(nvim)


def test_nothing_of_the_user_is_inherited(start: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NVIM", "VIMRUNTIME", "PYTHONPATH", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, "the user's")
    variables = start.variables()
    assert "the user's" not in variables.values()
    assert all(variables[name].startswith(str(start.home)) for name in FOLDERS)


def test_settings_become_a_table(start: Launch) -> None:
    start.prepare()
    assert 'json.decode([=====[{"a": null, "b": 1}]=====]' in start.prelude.read_text()


def test_the_workspace_is_the_recordings_one(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "workspace")
    assert (folder / "README.md").read_text().count("\n") == 3
    run = subprocess.run(
        [sys.executable, folder / "src/calc.py"], stdout=subprocess.PIPE, check=True
    )
    assert run.stdout == b"3\n"
    assert (folder / "src/calc.py").read_text().startswith("def add(a, b):\n    return a + b\n")
