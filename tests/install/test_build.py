"""The real build step, once: it makes all that the plugin needs."""

import os
import subprocess
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from tests.doc.documents import snippets
from tests.install.conftest import User, assert_chat_works, copy_plugin

pytestmark = pytest.mark.either_nvim

PATIENCE = 300
"""Seconds for the packages to come over the network."""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an installed plugin: a copy, and the build step of the README run in it."""
    folder = copy_plugin(tmp_path_factory.mktemp("plug in"))
    build = snippets("### Without a plugin manager", "sh")[-1]
    subprocess.run(build, shell=True, cwd=folder, env=_environment(), timeout=PATIENCE, check=True)
    return folder


def _environment() -> dict[str, str]:
    """Return a user's environment: no virtual environment, no setting of Python."""
    return {
        name: value
        for name, value in os.environ.items()
        if name != "VIRTUAL_ENV" and not name.startswith("PYTHON")
    }


def test_it_makes_a_working_environment(user: User, plugin: Path) -> None:
    user.configure(f"vim.opt.runtimepath:prepend({str(plugin)!r})")
    nvim = user.start()
    assert_chat_works(nvim)
    command = nvim.lua("return (require('eca.host.python').find())")
    assert Path(command) == plugin / ".venv" / "bin" / "python"


def test_no_chat_waits_until_the_plugin_is_compiled(plugin: Path) -> None:
    package = plugin / "rplugin" / "python3" / "eca_nvim"
    modules = [module for module in package.rglob("*.py") if module.name != "__main__.py"]
    assert [it for it in modules if not Path(cache_from_source(it)).exists()] == []


def test_nothing_is_left_to_complain_about(user: User, plugin: Path) -> None:
    user.configure(f"vim.opt.runtimepath:prepend({str(plugin)!r})")
    nvim = user.start()
    nvim.command("checkhealth eca")
    report = "\n".join(nvim.buffer_lines())
    assert "with all modules" in report
    assert "ERROR" not in report
