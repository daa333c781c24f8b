"""Real agents change a file that the user has changed, too, and has not saved."""

from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import allow_all, ask_first, prompt, start
from tests.support.factories import StartNeovim

UNSAVED = "# typed and not saved"


def test_unsaved_changes_are_read_and_stay(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    path = workspace / "src" / "calc.py"
    first, *rest = path.read_text().splitlines()
    nvim = start(start_nvim, agent)
    ask_first(nvim, agent)
    nvim.command("wincmd p")
    nvim.command(f"edit {path}")
    nvim.lua("vim.api.nvim_buf_set_lines(0, -1, -1, false, { ... })", UNSAVED)
    prompt(
        nvim,
        {"read": str(path)},
        {"edit": [str(path), first, "changed()"]},
        {"say": "all written"},
    )
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
        assert "your edits stay; :Eca conflicts" in nvim.messages()
