"""Real agents change a file that the user has changed, too, and has not saved."""

from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import allow_all, choose, prompt, start
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value

UNSAVED = "# typed and not saved"
COMPARED = """
return vim.iter(vim.api.nvim_tabpage_list_wins(0)):filter(function(it)
  return vim.wo[it].diff
end):map(function(it)
  return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(it), 0, -1, true)
end):totable()
"""


def test_unsaved_changes_are_read_and_stay(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    agent.needs("edit")
    path = workspace / "src" / "calc.py"
    first, *rest = path.read_text().splitlines()
    nvim = start(start_nvim, agent)
    change_both(nvim, path, first)
    allow_all(nvim, "all written")
    lines = nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", str(path)
    )
    if agent.edits_buffers:
        assert lines == ["changed()", *rest, UNSAVED]
        assert path.read_text() == "\n".join([*lines, ""])
        assert not nvim.eval(f"getbufvar('{path}', '&modified')")
    else:
        assert path.read_text() == "\n".join(["changed()", *rest, ""])
        assert lines == [first, *rest, UNSAVED], "it is never overwritten"
        nvim.wait_for(
            lambda: "your edits stay; :Eca conflicts" in nvim.messages(), "the message about it"
        )


def test_the_vimdiff_shows_what_the_edit_is_made_to(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    agent.needs("edit")
    path = workspace / "src" / "calc.py"
    first, *rest = path.read_text().splitlines()
    nvim = start(start_nvim, agent)
    change_both(nvim, path, first)
    nvim.wait_for(lambda: is_edit_asked(nvim), "the request about the edit")
    nvim.keys(":Eca diff<CR>")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    unsaved = [UNSAVED] if agent.edits_buffers else []
    sides = nvim.wait_for(lambda: compared(nvim), "two windows in diff mode")
    assert sides == [[first, *rest, *unsaved], ["changed()", *rest, *unsaved]]


def change_both(nvim: Neovim, path: Path, first: str) -> None:
    """Change a file without saving it, and let the agent change its first line."""
    nvim.command("wincmd p")
    nvim.command(f"edit {path}")
    nvim.lua("vim.api.nvim_buf_set_lines(0, -1, -1, false, { ... })", UNSAVED)
    prompt(
        nvim,
        {"read": str(path)},
        {"edit": [str(path), first, "changed()"]},
        {"say": "all written"},
    )


def is_edit_asked(nvim: Neovim) -> bool:
    """Return whether the edit is asked about; what comes before it is allowed."""
    pending: list[Value] = nvim.lua("return require('eca').pending()")
    for request in pending:
        if not request["title"].startswith("edit"):
            choose(nvim, request, "allow_once")
    return any(request["title"].startswith("edit") for request in pending)


def compared(nvim: Neovim) -> list[list[str]] | None:
    """Return the texts of the windows in diff mode, from left to right."""
    sides: list[list[str]] = nvim.lua(COMPARED)
    return sides if len(sides) == 2 else None
