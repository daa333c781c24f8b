"""The message of a commit, written into the buffer in which the user commits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.support import script
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.ui.staged import WITHOUT_HOST, draw, sent, wait_sent

USER = ("-c", "user.name=me", "-c", "user.email=me@here", "-c", "commit.gpgSign=false")
TEMPLATE = "\n# Please enter the commit message for your changes.\n# On branch main\n"


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *USER, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


@pytest.fixture
def repository(workspace: Path) -> Path:
    git(workspace, "init", "-q")
    for name, value in (
        ("user.name", "me"),
        ("user.email", "me@here"),
        ("commit.gpgSign", "false"),
    ):
        git(workspace, "config", name, value)
    git(workspace, "add", ".")
    return workspace


def write(nvim: Neovim, state: str, *lines: str, notice: str = "", fault: str = "") -> None:
    asked = wait_sent(nvim, "write_message")[-1]
    draw(nvim, ["commit_message", asked["id"], state, lines, notice or None, fault or None])
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")


def answer(nvim: Neovim, count: int, **found: Value) -> None:
    asked = wait_sent(nvim, "staged", count)[-1]
    draw(nvim, ["answer", asked["request"], found])


def text(nvim: Neovim) -> str:
    return "\n".join(nvim.buffer_lines()) + "\n"


def test_it_streams_above_the_comments(start_nvim: StartNeovim, repository: Path) -> None:
    message = repository / ".git" / "COMMIT_EDITMSG"
    message.write_text(TEMPLATE)
    nvim = start_nvim(str(message), init=WITHOUT_HOST, columns=80)
    nvim.command("Eca commit")
    assert wait_sent(nvim, "staged")[-1]["place"] == str(message)
    answer(nvim, 1, root=str(repository), files=["a"])
    asked = wait_sent(nvim, "write_message")[-1]
    assert (asked["place"], asked["id"].startswith("aside-")) == (str(message), True)
    nvim.wait_screen("the message is being written · :Eca commit! stops")
    write(nvim, "streaming", "fix: one")
    write(nvim, "streaming", "fix: one", "", "Be")
    nvim.keys("Go# mine<Esc>")
    write(nvim, "ready", "fix: one", "", "Because.", notice="the agent saw a part")
    assert text(nvim) == f"fix: one\n\nBecause.\n{TEMPLATE}# mine\n"
    nvim.wait_screen("eca: commit message: the agent saw a part")
    nvim.wait_screen(lambda screen: "being written" not in str(screen))
    nvim.command("silent undo | silent undo | silent undo")
    assert text(nvim) == TEMPLATE

    nvim.command("Eca commit")
    answer(nvim, 2, root=str(repository), files=["a"])
    wait_sent(nvim, "write_message", 2)
    write(nvim, "streaming", "one")
    write(nvim, "streaming", "one", "two")
    write(nvim, "ready", "one", "two", "three")
    nvim.command("silent undo")
    assert text(nvim) == TEMPLATE, "one undo step"

    for number, takes in enumerate(("ggcchis<Esc>", ":Eca commit!<CR>"), start=3):
        nvim.command("Eca commit")
        answer(nvim, number, root=str(repository), files=["a"])
        wait_sent(nvim, "write_message", number)
        write(nvim, "streaming", "theirs")
        nvim.keys(takes)
        before = text(nvim)
        write(nvim, "streaming", "theirs", "goes on")
        assert text(nvim) == before, "the user has taken it over, or stopped it"
        assert len(sent(nvim, "stop_message")) == number - 2
        nvim.wait_screen(lambda screen: "being written" not in str(screen))
    nvim.command("Eca commit")
    answer(nvim, 5, root=str(repository), files=["a"])
    wait_sent(nvim, "write_message", 5)
    write(nvim, "failed", fault="no credit")
    nvim.wait_screen("eca: no commit message: no credit")
    nvim.command("Eca commit")
    answer(nvim, 6, fault="nothing is staged: git add what belongs to the commit")
    nvim.wait_screen("eca: nothing is staged: git add what belongs to the commit")
    assert len(sent(nvim, "write_message")) == 5


FUGITIVE = """
vim.g.loaded_fugitive = 1
vim.api.nvim_create_user_command('Git', function(call)
  _G.ran = call.args
  vim.cmd('split .git/COMMIT_EDITMSG')
end, { nargs = '*' })
"""


def test_fugitive_commits_if_it_is_there(start_nvim: StartNeovim, repository: Path) -> None:
    (repository / ".git" / "COMMIT_EDITMSG").write_text(TEMPLATE)
    nvim = start_nvim("src/calc.py", init=WITHOUT_HOST + FUGITIVE, columns=80)
    nvim.command("Eca commit")
    answer(nvim, 1, root=str(repository), files=["a"])
    asked = wait_sent(nvim, "write_message")[-1]
    assert asked["place"] == str(repository / ".git" / "COMMIT_EDITMSG")
    assert nvim.lua("return _G.ran") == "commit"
    write(nvim, "ready", "fix: one")
    assert text(nvim) == f"fix: one\n{TEMPLATE}"


def test_a_buffer_of_ours_commits(
    start_nvim: StartNeovim, scripted_server: PrepareScript, repository: Path
) -> None:
    told = script.text("```\nfeat: all ", "of it\n", "\nBecause.\n```")
    server = scripted_server(script.handshake(), script.turn(told))
    settings = {"server": {"command": server.command}}
    nvim = start_nvim("src/calc.py", settings=settings, columns=80)
    git(repository, "config", "core.commentChar", ";")
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'the hook says no' >&2\nexit 1\n")
    hook.chmod(0o755)
    nvim.keys(":Eca commit<CR>")
    nvim.wait_screen("feat: all of it")
    nvim.wait_screen("Because.")
    nvim.wait_screen("#       src/calc.py")
    assert "+" in server.received("chat/prompt")[0]["params"]["message"]
    nvim.keys(":w<CR>")
    nvim.wait_screen("eca: git has not committed: the hook says no")
    assert nvim.eval("&modified") == 1
    hook.unlink()
    nvim.keys(":w message.txt<CR>")
    nvim.wait_screen("not written: :w without a name commits")
    nvim.keys(":wq<CR>")
    nvim.wait_screen("feat: all of it")
    nvim.wait_until("vim.fn.bufname('eca://commit/*') == ''")
    assert git(repository, "log", "--format=%B").strip() == "feat: all of it\n\nBecause."
    assert nvim.eval("bufname()") == "src/calc.py"
    nvim.keys(":Eca commit<CR>")
    nvim.wait_screen("nothing is staged")


def test_leaving_without_a_commit_leaves_no_buffer(
    start_nvim: StartNeovim, repository: Path
) -> None:
    nvim = start_nvim("src/calc.py", init=WITHOUT_HOST, columns=80)
    for number in (1, 2):
        nvim.command("Eca commit")
        answer(nvim, number, root=str(repository), files=["a"])
        wait_sent(nvim, "write_message", number)
        write(nvim, "ready", "fix: one")
        nvim.keys(":q!<CR>")
        nvim.wait_until("vim.fn.bufname('eca://commit/*') == ''")
    assert nvim.eval("bufname()") == "src/calc.py"
