"""Files that agents read and write: through buffers of a real Neovim, and on disk."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.screen import Value

from eca_nvim.agents.base import FileChanged, FileMissing, FileRefused
from eca_nvim.chat.vocabulary.intents import CallReturned
from eca_nvim.digests import text_digest
from eca_nvim.nvim.editor import Editor, EditorCalls
from eca_nvim.review.text_changes import text_of

OBSERVE = """
_G.events = {}
vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, { callback = function(event)
  table.insert(_G.events, event.event)
  if event.event == 'BufWritePre' then
    vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'formatted' })
  end
end })
_G.reported = {}
require('eca.host').send_if_running = function(name, payload)
  table.insert(_G.reported, { name, payload.state })
end
"""
WRITE = """
local path, text, expected, replaces_unsaved = ...
return require('eca.editor.agent_files').write({
  path = path,
  text = text,
  expected = expected ~= vim.NIL and expected or nil,
  replaces_unsaved = replaces_unsaved,
  expires = os.time() + 60,
})
"""


class Open:
    """A file in the current window of a Neovim."""

    def __init__(self, nvim: Neovim, path: Path) -> None:
        self.nvim = nvim
        self.path = path

    def edit(self, content: bytes) -> None:
        """Show the file with a content."""
        self.path.write_bytes(content)
        self.nvim.command(f"edit! {self.path}")

    def write(self, text: str, read: str | None = None, *, replaces_unsaved: bool = True) -> Value:
        """Write it as an agent does that has read a text."""
        expected = None if read is None else text_digest(read)
        return self.nvim.lua(WRITE, str(self.path), text, expected, replaces_unsaved)

    @property
    def lines(self) -> list[str]:
        """The lines of the buffer."""
        found: list[str] = self.nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
        return found


@pytest.fixture
def shown(nvim: Neovim, workspace: Path) -> Open:
    nvim.command("edit setup.txt | set hidden")
    nvim.lua("require('eca.editor.user_writes')")
    nvim.lua(OBSERVE)
    return Open(nvim, workspace / "file.txt")


def test_a_write_keeps_cursor_marks_and_folds_and_is_one_undo_step(shown: Open) -> None:
    nvim = shown.nvim
    shown.edit(b"".join(b"line %d\n" % number for number in range(1, 31)))
    nvim.command("set foldmethod=manual | 10,12fold | call cursor(20, 6) | 25mark a | 5mark b")
    nvim.command("20mark c | 20mark D")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 29, 30, true, { 'unsaved' })")
    nvim.lua("vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('t'), 19, 5, {})")
    before = shown.lines
    wanted = ["new first", *before[:4], *before[6:19], "linen 20", *before[20:]]
    unsaved = "".join(f"{line}\n" for line in before)
    answer = shown.write("\n".join([*wanted, ""]), unsaved)
    assert answer == {"state": "written", "unsaved": unsaved, "encoding": "utf-8", "bomb": False}
    assert shown.lines == wanted
    assert shown.path.read_text().splitlines() == wanted
    assert nvim.lua("return vim.bo.modified") is False
    row = wanted.index("linen 20") + 1
    assert nvim.lua("return { vim.fn.line('.'), vim.fn.line(\"'a\") }") == [row, row + 5]
    assert nvim.lua('return { vim.fn.line("\'c"), vim.fn.line("\'D") }') == [row, row]
    assert nvim.lua("return vim.fn.foldclosed(...)", wanted.index("line 10") + 1) > 0
    assert nvim.lua("return _G.events") == ["BufWritePost"]
    assert list(nvim.lua("return _G.reported")) == []  # it is no write of the user
    nvim.command("undo")
    assert shown.lines == before
    nvim.command("redo | doautocmd SafeState")
    assert list(nvim.lua("return _G.reported")) == []


def test_a_write_obeys_no_modeline(shown: Open) -> None:
    modeline = "vim: set textwidth=7 :\n"
    shown.edit(b"one\n")
    assert shown.write(modeline)["state"] == "written"
    assert shown.nvim.eval("&textwidth") == 0
    shown.edit(modeline.encode())
    assert shown.nvim.eval("&textwidth") == 7  # as in any file that the user opens
    shown.nvim.command("setlocal textwidth=9 | split other.txt")
    shown.path = shown.path.with_name("other.txt")
    shown.nvim.command("wincmd w")
    assert shown.write("two\n")["state"] == "written"
    assert shown.nvim.eval("&textwidth") == 9


def test_what_is_not_written_leaves_buffer_and_file_as_they_were(shown: Open) -> None:
    nvim = shown.nvim

    def refused(why: str) -> None:
        lines, content = shown.lines, shown.path.read_bytes()
        answer = shown.write("agent's\n")
        assert answer["state"] == "refused"
        assert why in answer["why"]
        assert (shown.lines, shown.path.read_bytes()) == (lines, content)

    shown.edit(b"one\n")
    assert shown.write("two\n", "something else\n") == {"state": "changed"}
    assert shown.lines == ["one"]
    nvim.command("set readonly")
    refused("read-only")
    nvim.command("set noreadonly nomodifiable")
    refused("cannot be changed")
    nvim.command("set modifiable")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'mine' })")
    shown.path.write_text("somebody else's, and longer\n")
    refused("changed on disk")
    nvim.command("edit! | normal! oadded")
    answer = shown.write("agent's\n", replaces_unsaved=False)
    assert answer["state"] == "refused"
    assert "unsaved changes in Neovim that you have not read" in answer["why"]
    nvim.command("edit!")
    nvim.command("autocmd BufWriteCmd *.txt let g:encrypted = 1")
    refused("a plugin has its own way")
    nvim.command("autocmd! BufWriteCmd *.txt")
    nvim.command("set nowrite")
    refused("Writing is disabled")
    assert "\n" not in shown.write("agent's\n")["why"]  # no stack
    nvim.command("set write")
    shown.edit("é\n".encode("latin-1"))
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'é, mine' })")
    answer = shown.write("→\n")
    assert (answer["state"], shown.lines) == ("refused", ["é, mine"])
    assert "encoding latin1 lacks" in answer["why"]
    assert shown.path.read_bytes() == "é\n".encode("latin-1")
    nvim.command("edit! | write! | set fileencoding=utf-8")
    folder = shown.path.parent / "folder"
    shown.path = folder / "file.txt"
    nvim.command(f"edit {shown.path}")
    assert shown.write("new\n") == {"state": "written"}
    shown.path.unlink()
    folder.rmdir()
    folder.write_text("a file now")
    answer = shown.write("more\n")
    assert (answer["state"], shown.lines) == ("refused", ["new"])
    assert answer["why"]
    late = "return require('eca.editor.agent_files').write({ path = ..., text = '', expires = 1 })"
    assert nvim.lua(late, str(shown.path))["state"] == "refused"
    assert shown.lines == ["new"]


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (b"one\r\ntwo\r\n", "one\nzwei\n", b"one\r\nzwei\r\n"),
        (b"one\r\ntwo\r\n", "one\r\nzwei\r\n", b"one\r\nzwei\r\n"),
        (b"one\ntwo\n", "one\ntwo", b"one\ntwo"),
        (b"one\ntwo", "one\ntwo\n", b"one\ntwo\n"),
        (b"one\n", "", b""),
        (b"", "one\n", b"one\n"),
        (b"", "", b""),
        (b"one\n\n\n", "\n", b"\n"),
        ("ä\n".encode("latin-1"), "äß\n", "äß\n".encode("latin-1")),
        ("\ufeffone\n".encode(), "two\n", "\ufefftwo\n".encode()),
        ("naïve ☃ ☂ end\n".encode(), "naive ☂ ☃ end\n", "naive ☂ ☃ end\n".encode()),
    ],
)
def test_a_file_keeps_its_form(
    nvim: Neovim, workspace: Path, before: bytes, text: str, after: bytes
) -> None:
    """Through its buffer, by an agent that has read it on the disk."""
    shown = Open(nvim, workspace / "file.txt")
    shown.edit(before)
    assert shown.write(text, text_of(before))["state"] == "written"
    assert shown.path.read_bytes() == after
    assert nvim.lua("return require('eca.editor.agent_files').unsaved({ ... })", "x") == []


# --- the host's half ------------------------------------------------------------------------------


class Answering:
    """An editor service whose Neovim answers calls with what a function returns."""

    def __init__(self, answer: Callable[[str], object]) -> None:
        self.calls = EditorCalls(self._run)
        self.editor = Editor(self.calls)
        self._answer = answer

    def _run(self, _code: str, arguments: Value) -> None:
        number, name, _ = arguments
        value = self._answer(name)
        self.calls.returned(CallReturned(number, not isinstance(value, Exception), value))


@pytest.fixture
def without_buffers() -> Editor:
    answers: dict[str, object] = {"unsaved": [], "write": {"state": "no_buffer"}}
    return Answering(answers.__getitem__).editor


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (b"one\r\ntwo\r\n", "one\nzwei\n", b"one\r\nzwei\r\n"),
        (b"one\r\ntwo\n", "one\nzwei\n", b"one\nzwei\n"),
        (b"one\n", "one", b"one"),
        (b"", "one\n", b"one\n"),
        ("ä\n".encode("latin-1"), "äß\n", "äß\n".encode("latin-1")),
        ("\ufeffone\n".encode(), "two\n", "\ufefftwo\n".encode()),
    ],
)
async def test_a_file_without_a_buffer_keeps_its_form(
    without_buffers: Editor, tmp_path: Path, before: bytes, text: str, after: bytes
) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(before)
    path.chmod(0o755)
    read = await without_buffers.read_text(str(path))
    assert await without_buffers.write_text(str(path), text, text_digest(read)) is None
    assert path.read_bytes() == after
    assert path.stat().st_mode & 0o777 == 0o755


@pytest.mark.anyio
async def test_new_files_links_and_refusals_on_disk(
    without_buffers: Editor, tmp_path: Path
) -> None:
    new, link, binary = (tmp_path / name for name in ("a/b/new.txt", "link", "binary"))
    with pytest.raises(FileMissing, match="no such file"):
        await without_buffers.read_text(str(new))
    await without_buffers.write_text(str(new), "new\n")
    link.symlink_to(new.parent)
    with pytest.raises(FileChanged, match="read it again"):
        await without_buffers.write_text(str(new), "late\n", text_digest("older\n"))
    with pytest.raises(FileChanged, match="read it again"):
        await without_buffers.write_text(str(tmp_path / "gone"), "late\n", text_digest("new\n"))
    await without_buffers.write_text(str(tmp_path / "made"), "made\n", text_digest(""))
    binary.write_bytes(b"\0\1")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    latin = tmp_path / "latin"
    latin.write_bytes("ä".encode("latin-1"))
    for path, why in {
        binary: "not a text file",
        pipe: "not a regular file",
        tmp_path: "not a regular file",
        link: "not a regular file",
        link / "new.txt": "a link or a file is where a folder was",
        Path("relative"): "an absolute path is needed",
    }.items():
        with pytest.raises(FileRefused, match=why):
            await without_buffers.read_text(str(path))
    for path, text, why in (
        (latin, "→", "Latin-1 has no"),
        (pipe, "x", "not a regular file"),
        (link, "x", "not a regular file"),
        (link / "made.txt", "x", "a link or a file is where a folder was"),
        (new, "\0", "NUL"),
    ):
        with pytest.raises(FileRefused, match=why):
            await without_buffers.write_text(str(path), text)
    assert [it.read_text() for it in new.parent.iterdir()] == ["new\n"]


@pytest.mark.parametrize("leads_to", ["nowhere", "other"])
def test_no_buffer_is_written_through_a_link_that_is_made_later(shown: Open, leads_to: str) -> None:
    shown.edit(b"old\n")
    other = shown.path.with_name("other")
    other.write_bytes(b"old\n")
    shown.path.unlink()
    shown.path.symlink_to(shown.path.with_name(leads_to))
    why = {"state": "refused", "why": "a link leads elsewhere now"}
    assert shown.write("new\n", "old\n") == why
    assert other.read_bytes() == b"old\n"
    assert not shown.path.with_name("nowhere").exists()


@pytest.mark.anyio
async def test_unsaved_text_is_read_and_refusals_of_neovim_are_raised(tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "file.txt")
    answers: dict[str, object] = {"unsaved": [{"path": path, "text": "unsaved\n"}]}
    editor = Answering(answers.__getitem__).editor
    assert await editor.read_text(path) == "unsaved\n"
    for unsaved, encoding, bomb in (("ä\n", "latin1", False), ("\ufeff→\n", "utf-8", True)):
        written = {"state": "written", "encoding": encoding, "bomb": bomb}
        answers["write"] = {**written, "unsaved": unsaved.removeprefix("\ufeff")}
        assert await editor.write_text(path, "x") == unsaved.encode(encoding)
    for state, fault in {"changed": FileChanged, "refused": FileRefused}.items():
        answers["write"] = {"state": state, "why": "it is read-only in Neovim"}
        with pytest.raises(fault):
            await editor.write_text(path, "x")
    answers["write"] = ValueError("E123")
    with pytest.raises(FileRefused, match="E123"):
        await editor.write_text(path, "x")
    with pytest.raises(FileMissing):
        await Answering({"unsaved": []}.__getitem__).editor.read_text(path)
