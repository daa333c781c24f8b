"""Steps run once: stamps, failures, interruptions, and two set-ups at a time."""

import io
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from scripts.setup import steps
from scripts.setup.progress import Progress, SetupError
from scripts.setup.stamp import Stamp, fingerprint
from scripts.setup.steps import Step, prepare


class Bell(io.StringIO):
    """A screen that rings at every line."""

    def __init__(self, ring: Callable[[], None]) -> None:
        super().__init__()
        self._ring = ring

    def flush(self) -> None:
        self._ring()


def _step(root: Path, name: str, done: list[str], fault: BaseException | None = None) -> Step:
    def install(progress: Progress) -> None:
        done.append(name)
        if fault is not None:
            raise fault

    return Step(name, (Stamp(root / f".{name}", fingerprint(name)),), install)


def test_a_finished_step_is_not_done_again(tmp_path: Path) -> None:
    done: list[str] = []
    screen = io.StringIO()
    for _ in range(2):
        assert prepare([_step(tmp_path, "venv", done)], tmp_path, screen) == 0
    assert done == ["venv"]
    assert screen.getvalue() == "Setting up: venv … done (0 s)\n"


def test_a_step_is_done_again_when_its_ingredients_change(tmp_path: Path) -> None:
    done: list[str] = []
    Stamp(tmp_path / ".venv", fingerprint("of yesterday")).put()
    assert prepare([_step(tmp_path, "venv", done)], tmp_path, io.StringIO()) == 0
    assert done == ["venv"]


@pytest.mark.parametrize(
    ("fault", "code", "end"),
    [
        (SetupError("no network: plug it in"), 1, "failed: no network: plug it in\n"),
        (OSError(28, "No space left on device"), 1, "failed: [Errno 28] No space left on device\n"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to continue\n"),
    ],
)
def test_a_fault_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path, fault: BaseException, code: int, end: str
) -> None:
    done: list[str] = []
    screen = io.StringIO()
    first = _step(tmp_path, "venv", done)
    assert prepare([first, _step(tmp_path, "nvim", done, fault)], tmp_path, screen) == code
    assert screen.getvalue() == "Setting up: venv … done (0 s)\nSetting up: nvim … " + end
    assert prepare([first, _step(tmp_path, "nvim", done)], tmp_path, screen) == 0
    assert done == ["venv", "nvim", "nvim"]


def test_a_command_fails_with_its_output_in_the_log(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "log" / "setup.log", io.StringIO())
    with pytest.raises(SetupError, match=r"^it broke: mend it \(details: .*setup\.log\)$"):
        progress.run(["sh", "-c", "echo a detail >&2; exit 3"], "it broke: mend it")
    assert "a detail\n" in (tmp_path / "log" / "setup.log").read_text()


def test_a_second_set_up_waits_and_says_so(tmp_path: Path) -> None:
    with ExitStack() as first:
        first.enter_context(Progress(tmp_path / "log").alone(tmp_path / "lock"))
        screen = Bell(first.close)
        with Progress(tmp_path / "log", screen).alone(tmp_path / "lock"):
            assert screen.getvalue() == "Setting up: waiting for another set-up of this folder\n"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    screen = io.StringIO()
    assert prepare([_step(tmp_path, "venv", [])], tmp_path, screen) == 1
    assert screen.getvalue().startswith("Setting up: cannot begin: [Errno 17] File exists: ")


def test_each_part_of_the_environment_has_its_stamp(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv").mkdir()
    (plugin,) = steps.for_plugin(tmp_path)
    (chat,) = steps.for_chat(tmp_path, Path("/usr/bin/nvim"))
    assert not plugin.is_done()
    for stamp in plugin.stamps:
        stamp.put()
    assert plugin.is_done()
    assert not chat.is_done()


def test_chat_fetches_no_neovim_when_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    own = steps.for_chat(tmp_path, Path("/usr/bin/nvim"))
    none = steps.for_chat(tmp_path, None)
    assert [step.what for step in own] == ["Python environment"]
    assert [step.what for step in none] == ["Python environment", "Neovim 0.12.4"]


def test_tests_need_every_neovim_and_checker(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    needed = [step.what for step in steps.for_tests(tmp_path)]
    assert needed[1:] == ["Neovim 0.10.4", "Neovim 0.12.4", "StyLua", "luacheck"]


def test_journeys_need_the_agents_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    assert [step.what for step in steps.for_agents(tmp_path)][-1] == "Node.js"
