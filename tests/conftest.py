"""Fixtures for all tests. `tests/support/__init__.py` says how to use them."""

import gc
import itertools
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from tests.demo.client import DEMO, WITHOUT_PAUSES
from tests.support import servers
from tests.support.autocommands import WATCHED
from tests.support.editor import Neovim
from tests.support.factories import PrepareReplay, PrepareScript, StartNeovim
from tests.support.fork_server import forking_python
from tests.support.launch import VERSIONS, Launch, compile_lua, know_binary
from tests.support.rpc import ChannelClosed
from tests.support.screen import Value
from tests.support.script import Step
from tests.support.servers import Replay, ScriptedServer
from tests.support.workspace import make_workspace

# A busy machine takes its time, for an example, too.
settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")

TESTED = pytest.StashKey[tuple[str, ...]]()
STARTED = pytest.StashKey[list[Neovim]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "test with this Neovim (a version, or the path of any), or with `every` one"
    parser.addoption("--nvim", help=words)
    words = "start every host as users do, and fork none"
    parser.addoption("--whole-start", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Take the Neovims to test with from `--nvim`."""
    named = config.getoption("--nvim")
    if named is None or named == "every":
        config.stash[TESTED] = VERSIONS
    elif named in VERSIONS:
        config.stash[TESTED] = (named,)
    elif "/" in named:
        config.stash[TESTED] = (know_binary(Path(named).expanduser().absolute()),)
    else:
        choices = ", ".join(VERSIONS)
        raise pytest.UsageError(f"--nvim={named}: give {choices}, every, or the path of a Neovim")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test that needs a Neovim with each version."""
    if "nvim_version" in metafunc.fixturenames:
        versions = metafunc.config.stash[TESTED]
        metafunc.parametrize("nvim_version", versions)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the rows of tests that are marked `either_nvim` with the versions in turn."""
    is_named = any("[" in argument for argument in config.args)
    if config.getoption("--nvim") is None and not is_named:
        rows: dict[str, list[str]] = {}
        items[:] = [item for item in items if is_its_turn(item, rows)]


def is_its_turn(item: pytest.Item, rows: dict[str, list[str]]) -> bool:
    """Return whether a row is run with its version; the first row's depends on the test's name."""
    if item.get_closest_marker("either_nvim") is None:
        return True
    assert isinstance(item, pytest.Function)
    if "nvim_version" not in item.fixturenames:
        return True
    version = str(item.callspec.params["nvim_version"])
    test, row = item.nodeid.partition("[")[0], item.callspec.id.replace(version, "")
    known = rows.setdefault(test, [])
    if row not in known:
        known.append(row)
    # Neither version has all first, nor all second, rows of pairs: widths, keys, sides.
    number = crc32(item.originalname.encode()) + known.index(row).bit_count()
    return bool(VERSIONS[number % len(VERSIONS)] == version)


def pytest_collection() -> None:
    """Keep the garbage collector off what is collected: thousands of tests, which all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a fresh copy of the recordings' workspace; Neovim starts in it."""
    return make_workspace(tmp_path / "workspace")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the screens to the report of a failure that has none."""
    report = yield
    if report.when == "call" and report.failed and ":messages\n" not in report.longreprtext:
        for editor in item.stash.get(STARTED, []):
            with suppress(ChannelClosed):
                report.sections.append((f"Neovim {editor.pid}", editor.explain("At the end:")))
    return report


@pytest.fixture(scope="session")
def forking() -> Iterator[str]:
    """Return a program that does as this Python, and forks hosts."""
    with forking_python() as program:
        yield program


@pytest.fixture
def host_python(request: pytest.FixtureRequest) -> str:
    """Return the option `python` of this test: hosts are forked unless it is `whole_start`."""
    if request.config.getoption("--whole-start") or request.node.get_closest_marker("whole_start"):
        return sys.executable
    return str(request.getfixturevalue("forking"))


@pytest.fixture(scope="session")
def compiled_lua(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return `compiled_lua(version)`: the folder of compiled Lua, which all workers share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base

    @cache
    def compiled(version: str) -> Path:
        folder = shared / f"lua-{version}"
        compile_lua(version, folder)
        return folder

    return compiled


@pytest.fixture
def start_nvim(
    request: pytest.FixtureRequest,
    nvim_version: str,
    tmp_path: Path,
    workspace: Path,
    host_python: str,
    compiled_lua: Callable[[str], Path],
) -> Iterator[StartNeovim]:
    """Start Neovims that end with the test."""
    started = request.node.stash[STARTED] = list[Neovim]()
    numbers = itertools.count(1)

    def start(
        *arguments: str,
        settings: Mapping[str, Value] | None = None,
        init: str = "",
        columns: int = 100,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Neovim:
        home = tmp_path / f"nvim{next(numbers)}"
        launch = Launch(
            version=nvim_version,
            home=home,
            cwd=cwd or workspace,
            marker=str(home),
            columns=columns,
            lines=lines,
            settings={"python": host_python, **(settings or {})},
            init=WATCHED + init,
            arguments=arguments,
            environment=environment or {},
            compiled=compiled_lua(nvim_version),
        )
        started.append(Neovim(launch))
        return started[-1]

    yield start
    finish_all(started)


def finish_all(editors: Sequence[Neovim]) -> None:
    """End all of them, then raise the first failure."""
    complaints = []
    for editor in editors:
        try:
            editor.finish()
        except (AssertionError, OSError) as complaint:
            complaints.append(complaint)
    if complaints:
        raise complaints[0]


@pytest.fixture
def nvim(start_nvim: StartNeovim) -> Neovim:
    """Start a Neovim of 100 by 24 with default settings."""
    return start_nvim()


@pytest.fixture
def replay(tmp_path: Path) -> PrepareReplay:
    """Return `replay(name, speed=0)`: a server that plays a recording, and its report."""

    def prepare(name: str, speed: float = 0) -> Replay:
        return servers.replay(name, tmp_path, speed)

    return prepare


@pytest.fixture
def scripted_server(tmp_path: Path) -> PrepareScript:
    """Return `scripted_server(steps, more_steps …)`: a server that performs a script."""
    numbers = itertools.count(1)

    def prepare(*parts: Sequence[Step]) -> ScriptedServer:
        steps = list(itertools.chain(*parts))
        return servers.scripted(steps, tmp_path / f"server{next(numbers)}")

    return prepare


@pytest.fixture
def demo_server() -> list[str]:
    """Return the command of the built-in demo agent."""
    return [sys.executable, *DEMO]


@pytest.fixture
def quick_demo() -> list[str]:
    """Return the demo agent without its pauses: for what does not happen while it speaks."""
    return [sys.executable, *WITHOUT_PAUSES]
