"""Real agents are installed in their newest version, and what cannot be is left out."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.setup import agents
from scripts.setup.agents import Package, installed, why_absent
from scripts.setup.progress import Progress, SetupError


class Registry:
    """A registry and what installs from it."""

    def __init__(self) -> None:
        self.newest_is: str | None = "1.0"
        self.gives = "1.0"
        self.fails = False
        self.installed: list[str] = []

    def newest(self, *_: object) -> str:
        if self.newest_is is None:
            raise SetupError("no network")
        return self.newest_is

    def install(self, _: Progress, own: Path, name: str) -> None:
        self.installed.append(name)
        (own / "half").touch()
        if self.fails:
            raise SetupError("it broke")

    def version(self, *_: object) -> str:
        return self.gives


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    found = Registry()
    monkeypatch.setattr(agents, "_Npm", lambda _: found)
    monkeypatch.setattr(agents, "PACKAGES", (Package("one", "@one/one@latest"),))
    return found


@pytest.fixture
def install(tmp_path: Path) -> Callable[[], str]:
    def run() -> str:
        screen = io.StringIO()
        agents.install(Progress(tmp_path / "log", screen), tmp_path)
        return screen.getvalue().replace("Setting up: ", "")

    return run


def test_the_newest_version_is_installed_once(
    registry: Registry, install: Callable[[], str], tmp_path: Path
) -> None:
    assert install() == "one 1.0 … done (0 s)\n"
    assert install() == "one 1.0 is there\n"
    assert registry.installed == ["@one/one@latest"]
    registry.newest_is, registry.gives = "2.0", "1.9"
    assert install() == "one 2.0 … done (0 s)\none is 1.9: 2.0 cannot be installed here\n"
    assert install() == "one 1.9 is there\n"
    assert installed(tmp_path, "one") == "1.9"


def test_without_the_registry_what_is_there_is_used(
    registry: Registry, install: Callable[[], str], tmp_path: Path
) -> None:
    install()
    registry.newest_is = None
    assert install() == "one 1.0, perhaps not the newest: no network\n"
    assert installed(tmp_path, "one") == "1.0"


def test_what_cannot_be_installed_is_left_out_with_its_reason(
    registry: Registry, install: Callable[[], str], tmp_path: Path
) -> None:
    assert why_absent(tmp_path, "one") == "it is not installed: run `make agents`"
    registry.fails = True
    assert install().endswith("one is left out: it broke\n")
    assert installed(tmp_path, "one") is None
    assert why_absent(tmp_path, "one") == "it broke"
    registry.fails = False
    install()
    assert installed(tmp_path, "one") == "1.0"


def test_an_agent_of_another_python_says_which(
    monkeypatch: pytest.MonkeyPatch, install: Callable[[], str], tmp_path: Path
) -> None:
    monkeypatch.setattr(agents, "PACKAGES", (Package("one", "one", (3, 99)),))
    assert install() == "one is left out: it needs Python 3.99: install that\n"
