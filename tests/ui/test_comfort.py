"""What only adds comfort never stops the rest: folders that cannot be written."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import Value, catch_up, say, start_chat, wait_idle, wait_line

XDG = ("STATE_HOME", "CACHE_HOME", "DATA_HOME", "CONFIG_HOME", "RUNTIME_DIR")
FOLDERS = (*(f"XDG_{it}" for it in XDG), "TMPDIR", "HOME")

ASKS = "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"


def below_a_file(place: Path) -> Path:
    place.write_text("")
    return place / "folder"


def a_file(place: Path) -> Path:
    place.write_text("")
    return place


def a_link_to_nothing(place: Path) -> Path:
    place.symlink_to(place.with_name("gone"))
    return place


def no_folder_can_be_made(_place: Path) -> Path:
    return Path("/proc")  # not even by root


def ours_is_a_file(place: Path) -> Path:
    (place / "nvim").mkdir(parents=True)
    (place / "nvim" / "eca").write_text("")
    return place


def ours_cannot_be_written(place: Path) -> Path:
    (place / "nvim").mkdir(parents=True)
    (place / "nvim" / "eca").symlink_to("/proc")
    return place


Break = Callable[[Path], Path]

KINDS: Mapping[Break, str] = {
    below_a_file: "{state} is no folder, mend it",
    a_file: "{state} is no folder, mend it",
    a_link_to_nothing: "{state} is a link to nothing, mend it",
    no_folder_can_be_made: "/proc/nvim cannot be made (no such file or directory), mend it",
    ours_is_a_file: "{state}/nvim/eca is no folder, mend it",
    ours_cannot_be_written: "{state}/nvim/eca cannot be written (no such file or directory), "
    "mend it",
}
WALKED = (below_a_file, a_link_to_nothing, ours_cannot_be_written)
"""The kinds with which a whole conversation is held: the others differ only in their words."""


def go_on(nvim: Neovim) -> None:
    """Neovim waits for no key, and has shown no traceback."""
    assert not nvim.blocked()
    assert "traceback" not in nvim.screen


def allow_an_edit(nvim: Neovim) -> None:
    """Have the agent change a file, look at its diff, and allow it."""
    nvim.wait_until("require('eca').status().server == 'ready'")
    go_on(nvim)
    say(nvim, "fix the greeting")
    nvim.wait_until(ASKS)
    go_on(nvim)
    nvim.keys("<C-w>kgg/? edit<CR>gd")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    go_on(nvim)
    nvim.keys(":Eca approve<CR>")
    wait_line(nvim, "✓ edit")
    wait_idle(nvim)


@pytest.mark.either_nvim
@pytest.mark.parametrize("break_folder", WALKED)
def test_without_any_folder_a_conversation_is_held(
    start_nvim: StartNeovim, quick_demo: list[str], tmp_path: Path, break_folder: Break
) -> None:
    """All folders are broken in one way at once; one line says what does not work, and why."""
    environment = {name: str(break_folder(tmp_path / name)) for name in FOLDERS}
    more: dict[str, Value] = {"settings": {"approval": {"guard": 0}}, "environment": environment}
    nvim = start_chat(start_nvim, quick_demo, columns=200, lines=40, **more)
    allow_an_edit(nvim)
    nvim.keys(":silent! tabonly<CR>:EcaChat<CR>i@")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    go_on(nvim)
    nvim.keys(f"<C-e><BS><Esc>:Eca export {tmp_path}/chat.md<CR>")
    nvim.wait_until(f"vim.uv.fs_stat('{tmp_path}/chat.md')")
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("u undo")
    nvim.keys("u")
    nvim.wait_screen("undone in 1 file")
    catch_up(nvim)
    go_on(nvim)
    line, exported, undone = filter(None, nvim.messages().splitlines())
    expected = KINDS[break_folder].format(state=tmp_path / "XDG_STATE_HOME")
    assert line == f"eca: nothing is saved: {expected}"
    assert "lines written to" in exported
    assert undone == "eca: turn 1 undone in 1 file"
    assert nvim.quit() == 0


@pytest.mark.either_nvim
def test_the_line_names_the_folder_and_what_is_wrong_with_it(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    """Whoever meets the fault first; and again once something was written meanwhile."""
    nvim = start_nvim(columns=240)
    for break_folder, expected in KINDS.items():
        name = break_folder.__name__
        state = break_folder(tmp_path / name)
        nvim.command(f"messages clear | let $XDG_STATE_HOME = '{state}'")
        nvim.lua("""
        require('eca.host.unwritable').forget()
        package.loaded['eca.host.log'], package.loaded['eca.host.draft_file'] = nil, nil
        local kept = vim.fn.stdpath('state') .. '/eca/kept.msgpack'
        local op = { op = 'unwritable', path = kept, text = 'no' }
        op.fault = 'No such file or directory'
        require('eca.view.ops').draw({ op })
        for _ = 1, 2 do require('eca.host.log').write('a line') end
        require('eca.host.draft_file').save('text')
        """)
        nvim.lua("vim.wait(0)")
        [line] = nvim.messages().strip().splitlines()
        assert line == f"eca: nothing is saved: {expected.format(state=tmp_path / name)}"
        # The writer of the log reports its fault late, about the folder of that moment.
        nvim.wait_for(lambda: not nvim.child.descendants(), "the end of the log's writer")
        nvim.lua("vim.wait(0)")
    written = "{ op = 'unwritable', path = '', fault = '', text = '' }"
    nvim.lua(f"require('eca.view.ops').draw({{ {written} }})")
    nvim.lua("require('eca.host.draft_file').save('another')")
    assert nvim.messages().count("nothing is saved") == 2
