"""Paths of others, in every place that opens one: nothing runs, nothing hangs."""

import gzip
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import ask, expect, handshake, turn
from tests.ui.listed import change, rows, show
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, request, wait_sent
from tests.ui.talk import asks, lines_of, say, start_chat

ODD = (
    "file:x",
    "a:b/c",
    "%",
    "#",
    "%:p|!touch ran",
    "|!touch ran",
    "`touch ran`",
    "`=execute('!touch ran')`",
    "new\n!touch ran",
    "~",
    "~root",
    "$HOME",
    "*",
    "[ab]?",
    "+!touch ran",
    "++ff=dos",
    "-x",
    "\\ <afile>",
    "%{execute('!touch ran')}",
)
"""Names of files that are there; each is opened like any other."""
URLS = ("term://touch ran", "term:/touch ran", "scp://host/x")
RELATIVE = (*URLS, "file:x", "file:///etc/hosts", "%", "~", "+!touch ran", "-x")
ABSOLUTE = (*URLS, "./" + URLS[0], "pipe", "folder", "../../../../../../../dev/zero", "endless")
"""Paths that name something, as they are and in the workspace, and are refused all the same."""
TEXT = "one\ntwo\n"
STRANGE = """
return vim.tbl_filter(function(name)
  return name:find('^%a[%w+.-]*:') and not name:find('^eca://')
end, vim.tbl_map(function(buf)
  return vim.api.nvim_buf_get_name(buf)
end, vim.api.nvim_list_bufs()))
"""
LOADED = """
local name = ...
return vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
  return vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) == name
end)
"""

Way: TypeAlias = Callable[[Neovim, str], None]


@pytest.fixture
def folder(workspace: Path) -> Path:
    """Make the workspace one of a hostile repository."""
    for name in (*ODD, "term:/touch ran", "scp:/host/x", "file:/etc/hosts", "folder/x"):
        (workspace / name).parent.mkdir(exist_ok=True, parents=True)
        (workspace / name).write_text(TEXT)
    os.mkfifo(workspace / "pipe")
    (workspace / "endless").symlink_to("/proc/self/pagemap")  # a regular file without a size
    return workspace


@pytest.fixture
def stage(start_nvim: StartNeovim, folder: Path) -> Neovim:
    settings = {"follow": True, "approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.lua(f"require('eca').open({{ chat = '{CHAT}' }})")
    nvim.command("wincmd h")
    return nvim


def assert_nothing_ran(nvim: Neovim, folder: Path) -> None:
    """No command, no terminal, no buffer that is named like a URL."""
    assert not list(folder.rglob("ran"))
    assert not nvim.child.descendants()
    assert nvim.lua(STRANGE) == []


def start_again(nvim: Neovim) -> None:
    """Show the chat beside an empty buffer, and nothing else."""
    nvim.command("silent! tabonly! | silent! only! | enew! | silent! %bwipeout!")
    nvim.lua(f"require('eca').open({{ chat = '{CHAT}' }})")
    nvim.command("wincmd h")
    nvim.take_errors()


# --- files with odd names are files --------------------------------------------------------------


def diff(nvim: Neovim, path: str) -> None:
    shown = ["diff", CHAT, "t", path, TEXT, "other\n", "changed", request("t"), None, None]
    draw(nvim, ["pending", [approval("t", paths=[path])]], shown)
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")


def follow(nvim: Neovim, path: str) -> None:
    draw(nvim, ["place", CHAT, path, [[2, 1]], True])


def revert(nvim: Neovim, path: str) -> None:
    quickfix(nvim, path)
    nvim.keys("r")


def quickfix(nvim: Neovim, path: str) -> None:
    lines = {"line": 2, "before": ["2"], "after": ["two"], "above": ["one"], "below": []}
    nvim.command("wincmd t")
    show(nvim, {**change(Path(path)), "path": path, **lines})


def jump(nvim: Neovim, path: str) -> None:
    quickfix(nvim, path)
    nvim.keys("<CR>")


def used(nvim: Neovim, path: str) -> None:
    nvim.command("wincmd t")
    nvim.command("Eca files")
    asked = wait_sent(nvim, "files")[-1]
    row = {"path": path, "heat": [], "use": [["  read", ""]]}
    draw(nvim, ["answer", asked["request"], {"head": [], "files": [row], "more": 0}])
    nvim.wait_screen("files of this chat")
    nvim.keys("<CR>")


def located(nvim: Neovim, path: str) -> None:
    asked = {"kind": "definition", "path": path, "line": 1, "column": 1}
    nvim.lua("require('eca.view.editor_calls').call(1, 'locations', ...)", asked)


WAYS: tuple[Way, ...] = (follow, revert, jump, used, located)


@pytest.mark.either_nvim
@pytest.mark.parametrize("way", WAYS)
def test_a_file_with_an_odd_name_is_a_file(way: Way, stage: Neovim, folder: Path) -> None:
    for name in ODD:
        path = str(folder / name)
        way(stage, path)
        stage.wait_for(partial(stage.lua, LOADED, path), f"{path!r} to be loaded")
        assert_nothing_ran(stage, folder)
        start_again(stage)


# --- what is no plain path of a regular file is refused ------------------------------------------


def row_tells(nvim: Neovim) -> bool:
    return "not opened" in rows(nvim)[1]


def answer_tells(nvim: Neovim) -> bool:
    answer = wait_sent(nvim, "returned")[-1]
    return answer["ok"] is False and answer["value"].startswith("not opened")


def message_tells(nvim: Neovim) -> bool:
    told = [line for line in nvim.messages().splitlines() if "not opened" in line]
    return len(told) == 1 and told[0].startswith("eca: ")


def shows_no_file(nvim: Neovim) -> bool:
    return bool(nvim.eval("getbufvar(winbufnr(1), '&buftype')") == "nofile")


def row_and_message_tell(nvim: Neovim) -> bool:
    return row_tells(nvim) and "not opened" in nvim.messages()


TELLS: dict[Way, Callable[[Neovim], bool]] = {
    diff: shows_no_file,
    follow: message_tells,
    revert: row_and_message_tell,
    quickfix: row_tells,
    used: message_tells,
    located: answer_tells,
}


@pytest.mark.either_nvim
@pytest.mark.parametrize("way", TELLS)
def test_what_is_no_plain_path_is_refused_in_a_line(way: Way, stage: Neovim, folder: Path) -> None:
    for path in (*RELATIVE, *(f"{folder}/{name}" for name in ABSOLUTE)):
        way(stage, path)
        stage.wait_for(lambda: TELLS[way](stage), f"the refusal of {path!r}")
        assert not stage.lua(LOADED, path)
        assert_nothing_ran(stage, folder)
        start_again(stage)


TELL_OF_LARGE: dict[Way, Callable[[Neovim], bool]] = {
    located: answer_tells,
    follow: message_tells,
    revert: message_tells,
}


@pytest.mark.either_nvim
@pytest.mark.parametrize("way", TELL_OF_LARGE)
def test_a_large_file_is_loaded_by_the_user_alone(way: Way, stage: Neovim, folder: Path) -> None:
    path = folder / "large.txt"
    path.write_text(TEXT + "\n" * (8 << 20))
    way(stage, str(path))
    stage.wait_for(lambda: TELL_OF_LARGE[way](stage), "the refusal")
    assert not stage.lua(LOADED, str(path))
    stage.command(f"edit {path}")
    start_again(stage)


def test_a_pipe_in_the_place_of_a_file_is_not_read(stage: Neovim, folder: Path) -> None:
    file = folder / "code.txt"
    file.write_text("old\n")
    stage.command(f"edit {file}")
    file.unlink()
    os.mkfifo(file)
    draw(stage, ["files", CHAT, [str(file)]])
    stage.wait_for(lambda: message_tells(stage), "the refusal")
    assert stage.buffer_lines() == ["old"]


@pytest.mark.either_nvim
@pytest.mark.parametrize("choice", [2, 3])
def test_a_conflict_with_a_pipe_reads_nothing(choice: int, stage: Neovim, folder: Path) -> None:
    file = folder / "code.txt"
    file.write_text("old\n")
    stage.command(f"edit {file}")
    stage.keys("Smine<Esc>")
    file.write_text("theirs now\n")
    draw(stage, ["files", CHAT, [str(file)]])
    stage.wait_screen(":Eca conflicts")
    file.unlink()
    os.mkfifo(file)
    stage.input(":Eca conflicts<CR>")
    stage.wait_screen("changed on disk and in its buffer")
    stage.keys(f"{choice}<CR>")
    stage.wait_for(lambda: message_tells(stage), "the refusal")
    assert stage.buffer_lines() == ["mine"]
    stage.command("edit! README.md")


@pytest.mark.either_nvim
@pytest.mark.parametrize("name", ["pipe", "folder", "term://touch ran"])
def test_the_chat_is_not_exported_to_a_pipe(name: str, stage: Neovim, folder: Path) -> None:
    stage.lua("require('eca.host').ask = function(_, _, done) done('text') end")
    stage.lua("require('eca.chat.output').export(..., true)", name)
    stage.wait_for(lambda: message_tells(stage), "the refusal")
    assert_nothing_ran(stage, folder)


OPENER = "_G.opened = {} vim.ui.open = function(it) table.insert(_G.opened, it) end"


def test_only_links_and_images_are_opened_outside(stage: Neovim, folder: Path) -> None:
    stage.lua(OPENER)
    (folder / "a.png").write_bytes(b"png")
    (folder / "a.desktop").write_text("[Desktop Entry]")
    os.mkfifo(folder / "b.png")
    wanted = ["https://a.b", "mailto:a@b", str(folder / "a.png")]
    refused = ["a.desktop", "b.png", "folder", "term://x.png"]
    others = ["a.png", "-x.png", "javascript:alert(1)", "file:///etc/hosts", "https://a b", "%"]
    targets = [*wanted, *(f"{folder}/{name}" for name in refused), *others]
    draw(stage, *(["external", target] for target in targets))
    stage.wait_for(lambda: len(stage.lua("return _G.opened")) >= len(wanted), "what is opened")
    assert stage.lua("return _G.opened") == wanted
    told = [line for line in stage.messages().splitlines() if "open" in line]
    assert len(told) == len(targets)
    assert told[0] == "eca: opening https://a.b"


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["gf", "gx", "<CR>"])
def test_keys_on_the_text_of_the_agent_run_nothing(key: str, stage: Neovim, folder: Path) -> None:
    stage.lua(OPENER)
    names = [*ODD, *RELATIVE, *ABSOLUTE, *(f"{folder}/{name}" for name in ABSOLUTE)]
    lines = [name.replace("\n", " ") for name in names]
    draw(stage, *chat_text("\n".join(lines)))
    stage.wait_for(lambda: set(lines) <= set(lines_of(stage)), "the text")
    for row, line in enumerate(lines_of(stage), 1):
        for column in (0, line.find("/"), line.find(":")):
            stage.command("wincmd b | wincmd k")
            stage.lua("vim.api.nvim_win_set_cursor(0, ...)", [row, max(column, 0)])
            stage.keys(key)
            stage.keys("<Esc>")
            assert_nothing_ran(stage, folder)
    assert stage.lua("return _G.opened") == []
    assert not stage.take_errors()


def test_an_archive_is_read_by_a_plugin_only_for_the_user(stage: Neovim, folder: Path) -> None:
    """Plugins run programs on archives, and on whatever else they read in their own way."""
    stage.lua("""
        _G.read = {}
        vim.api.nvim_create_autocmd('BufReadCmd', {
          pattern = { '*.zip', '*/secret/*' },
          callback = function(event) table.insert(_G.read, event.file) end,
        })""")
    (folder / "secret").mkdir()
    for name in ("a.zip", "secret/b.txt", "zipfile:x::y"):
        (folder / name).write_text(TEXT)
        located(stage, str(folder / name))
        assert "a plugin has its own way to read it" in wait_sent(stage, "returned")[-1]["value"]
        follow(stage, str(folder / name))
        stage.wait_for(lambda: message_tells(stage), "the refusal")
        start_again(stage)
    assert stage.lua("return _G.read") == []


def test_a_packed_file_is_unpacked_only_for_the_user(stage: Neovim, folder: Path) -> None:
    """Neovim's own plugin unpacks it, to whatever size."""
    path = folder / "code.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    stage.command("runtime plugin/gzip.vim")
    located(stage, str(path))
    assert "a plugin has its own way to read it" in wait_sent(stage, "returned")[-1]["value"]
    follow(stage, str(path))
    stage.wait_for(lambda: message_tells(stage), "the refusal")
    diff(stage, str(path))
    stage.wait_for(lambda: shows_no_file(stage), "the refusal")
    assert not stage.lua(LOADED, str(path))
    start_again(stage)


# --- with a host and a server --------------------------------------------------------------------


def editing(path: str) -> dict[str, Value]:
    """Say of a call that it changes a file of two lines."""
    hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+three"
    change = {"path": path, "linesAdded": 1, "linesRemoved": 1, "diff": hunk}
    return {"arguments": {"path": path}, "details": {"type": "fileChange", **change}}


@pytest.mark.either_nvim
@pytest.mark.parametrize("name", URLS)
def test_an_edit_of_a_url_is_refused_before_it_is_shown(
    name: str, start_nvim: StartNeovim, scripted_server: PrepareScript, folder: Path
) -> None:
    call = editing(f"{folder}/{name}")
    approved = expect("chat/toolCallReject")
    server = scripted_server(handshake(), turn(asks("c", "edit_file", **call), approved))
    nvim = start_chat(start_nvim, server, settings={"follow": True}, columns=160)
    say(nvim, "go")
    nvim.wait_screen("allow this?")
    nvim.command("Eca diff")
    nvim.wait_screen(f"not shown, a plain path is needed, not a URL: {name}")
    assert nvim.eval("tabpagenr('$')") == 1
    assert not list(folder.rglob("ran"))
    assert nvim.lua(STRANGE) == []
    nvim.command("Eca reject")


def test_no_question_of_a_server_loads_what_is_no_file(
    start_nvim: StartNeovim, scripted_server: PrepareScript, folder: Path
) -> None:
    uris = ["file:term://touch ran", "file:x", "file://host$workspace/README.md"]
    names = ("term:%2F%2Ftouch ran", "term:/touch ran", "pipe", "folder", "missing")
    uris += [f"file://$workspace/{name}" for name in names]
    position = {"line": 1, "character": 1}
    methods = ("editor/getDefinition", "editor/getReferences")
    asked = [ask(it, {"uri": uri, "position": position}) for uri in uris for it in methods]
    wrong = [ask("editor/getDiagnostics", {"uri": uri}) for uri in uris[:5]]
    server = scripted_server(handshake(), turn(*asked, *wrong))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wanted = len(asked) + len(wrong)
    nvim.wait_for(lambda: len(server.answers()) == wanted, "all answers")
    results = [it["result"] for it in server.answers()[: len(asked)]]
    assert {it["status"] for it in results} == {"error"}
    assert all(it["message"] and "\n" not in it["message"] for it in results)
    assert all("error" in it for it in server.answers()[len(asked) :])
    assert not list(folder.rglob("ran"))
    assert nvim.lua(STRANGE) == []
