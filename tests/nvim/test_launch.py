"""The start of the host: one line and an exit status for anything that is missing."""

import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.nvim import launch

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
SCRIPT = PACKAGE / "nvim" / "launch.py"
REMEDY = "run :Eca install"


def start(python: str, package: Path = PACKAGE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-I", str(SCRIPT), str(package), REMEDY],
        input="",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a Python that has nothing installed."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def test_missing_modules_are_named_in_one_line_with_the_remedy(bare_python: str) -> None:
    ended = start(bare_python)
    assert ended.returncode == launch.CANNOT_START
    assert ended.stdout == ""
    assert ended.stderr == f"{REMEDY}: {bare_python} lacks pynvim and 4 more\n"


@pytest.mark.parametrize("missing", launch.NEEDED)
def test_each_module_is_needed(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        launch, "find_spec", lambda name: None if name == missing else find_spec(name)
    )
    with pytest.raises(launch.Unfit, match=rf" lacks {missing}$"):
        launch.check()


def test_an_old_python_is_told_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    with pytest.raises(launch.Unfit, match=r"is Python 3\.9\.2, 3\.11 or newer is required$"):
        launch.check()


def test_a_broken_pynvim_is_told_too(bare_python: str) -> None:
    site = next(Path(bare_python).parents[1].glob("lib/python3*/site-packages"))
    for name in launch.NEEDED:
        (site / f"{name}.py").write_text("from nowhere import nothing\n")
    ended = start(bare_python)
    for name in launch.NEEDED:
        (site / f"{name}.py").unlink()
    assert ended.returncode == launch.CANNOT_START
    assert ended.stderr == (
        f"{REMEDY}: {bare_python} cannot import pynvim (No module named 'nowhere')\n"
    )


def test_closed_input_is_a_quiet_end() -> None:
    command = [sys.executable, "-I", str(SCRIPT), str(PACKAGE), REMEDY]
    ended = subprocess.run(command, input=b"", capture_output=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Return a copy of the package, to be damaged."""
    copy = tmp_path / "rplugin" / "python3" / "eca_nvim"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_a_broken_plugin_is_told_in_one_line(damaged: Path) -> None:
    (damaged / "nvim" / "plugin.py").write_text("import nowhere\n")
    ended = start(sys.executable, damaged)
    assert ended.returncode == launch.CANNOT_START
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"the plugin in {damaged} is broken (ModuleNotFoundError")
