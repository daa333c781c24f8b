"""The window of a panel: its rows, its keys, its cursor."""

import os
import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, expect, gate, handshake, send

pytestmark = pytest.mark.either_nvim

JOBS = "eca://panel/jobs"
BUFFER = "vim.api.nvim_buf_get_lines(0, 0, -1, true)"


def job(number: int, label: str, status: str = "running", day: int = 1) -> dict[str, object]:
    started = f"2020-01-{day:02}T00:00:00.123456789Z"
    code = 3 if status == "failed" else None
    return {"id": f"job-{number}", "type": "shell", "status": status, "label": label} | {
        "startedAt": started,
        "exitCode": code,
    }


def jobs(*listed: dict[str, object]) -> Steps:
    return send("jobs/updated", {"jobs": [*listed]})


def start(
    start_nvim: StartNeovim,
    scripted_server: PrepareScript,
    *steps: Steps,
    columns: int = 80,
    init: str = "",
    shows: str = "running",
) -> Neovim:
    """Start Neovim with a server, and show its jobs."""
    server = scripted_server(handshake(), *steps)
    settings = {"server": {"command": server.command}}
    nvim = start_nvim(settings=settings, columns=columns, init=init)
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys(":Eca jobs<CR>")
    nvim.wait_until(f"vim.startswith(vim.api.nvim_get_current_line(), '{shows}')")
    return nvim


def lines(nvim: Neovim, name: str = JOBS) -> list[str]:
    found: list[str] = nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)", name
    )
    return found


@pytest.mark.parametrize("columns", [80, 41])
def test_a_panel_shows_rows_and_at_most_four_keys(
    start_nvim: StartNeovim, scripted_server: PrepareScript, columns: int
) -> None:
    listed = jobs(job(1, "make all"), job(2, "false", "failed"))
    nvim = start(start_nvim, scripted_server, listed, columns=columns)
    screen = nvim.wait_screen("failed 3").text()
    (bar,) = [line for line in screen.split("\n") if line.startswith(" jobs: 1 running")]
    assert "g?" in bar
    if columns == 80:
        assert "<CR> output  x end it  c go to its chat  g? keys" in bar
    assert nvim.lua("return vim.bo.filetype") == "eca-panel"
    assert not nvim.lua("return vim.bo.modifiable")


def test_the_cursor_stays_on_its_row(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    one, two, three = (job(number, f"job {number}") for number in (1, 2, 3))
    steps = (
        *(jobs(one, two, three), gate(tmp_path / "1"), jobs(three, two)),
        *(gate(tmp_path / "2"), jobs(job(4, "job 4", day=2), job(5, "job 5", day=3), two)),
    )
    nvim = start(start_nvim, scripted_server, *steps)
    nvim.wait_screen("job 3")
    nvim.keys("2Gw")
    for number, row in ((1, 1), (2, 3)):
        (tmp_path / str(number)).write_text("")
        nvim.wait_until(f"#vim.fn.split(table.concat({BUFFER}), 'ended', 1) == {number + 1}")
        assert nvim.lua("return vim.api.nvim_get_current_line()").endswith("job 2")
        assert nvim.lua("return vim.api.nvim_win_get_cursor(0)[1]") == row
        assert nvim.lua("return vim.api.nvim_win_get_cursor(0)[2]") > 0


def test_q_goes_back_and_the_server_is_not_asked_any_more(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start(start_nvim, scripted_server, jobs(job(1, "make")))
    nvim.keys("q")
    assert nvim.lua("return vim.fn.bufnr(...)", JOBS) == -1
    assert nvim.lua("return vim.bo.filetype").startswith("eca-")
    nvim.keys(":Eca jobs<CR>")
    nvim.wait_screen("running  ")
    nvim.command("only")
    nvim.keys("q")  # the last window
    assert nvim.lua("return vim.bo.filetype") == ""
    assert nvim.lua("return vim.fn.bufnr(...)", JOBS) == -1


def test_all_keys_are_listed_and_do_something(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start(start_nvim, scripted_server, jobs(job(1, "make")))
    nvim.keys("g?")
    screen = nvim.wait_screen("in all panels")
    mapped = nvim.lua(
        "return vim.tbl_map(function(map) return (map.lhs:gsub('<lt>', '<')) end,"
        " vim.api.nvim_buf_get_keymap(vim.fn.bufnr(...), 'n'))",
        JOBS,
    )
    for key in filter(lambda it: "Mouse" not in it, mapped):
        assert f" {key} " in screen, key
    nvim.keys("q")
    nvim.keys("<Tab><S-Tab>")  # the next panel, and back
    nvim.wait_screen("running  ")


def test_what_cannot_be_undone_is_asked_about_and_sent_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start(
        *(start_nvim, scripted_server, jobs(job(1, "make"))),
        *(expect("jobs/kill"), jobs(job(1, "make", "killed"))),
    )
    nvim.keys("x")
    nvim.wait_screen("End make?")
    nvim.keys("2<CR>")
    assert lines(nvim)[0].startswith("running")
    nvim.keys("x")
    nvim.wait_screen("End make?")
    nvim.keys("1<CR>")
    nvim.wait_screen("killed")


def test_a_key_that_the_user_has_mapped_stays_theirs(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    init = """
        vim.api.nvim_create_autocmd('FileType', { pattern = 'eca-panel', callback = function()
          vim.keymap.set('n', 'x', '<Cmd>let g:mine = 1<CR>', { buffer = true })
        end })
    """
    nvim = start(start_nvim, scripted_server, jobs(job(1, "make")), init=init)
    nvim.keys("x")
    assert nvim.lua("return vim.g.mine") == 1


def test_hostile_texts_are_only_text(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    bad = "\x1b[31m%{system('x')}\r\n\x00\u202e vim: set ft=lua:\t" + "long " * 2000
    nvim = start(start_nvim, scripted_server, jobs(job(1, bad), job(2, "")))
    shown = lines(nvim)
    assert len(shown) == 2
    assert "\x1b" not in shown[0]
    assert "\u202e" not in shown[0]
    assert nvim.lua("return vim.fn.strdisplaywidth(...)", shown[0]) < 400
    nvim.keys("x")
    nvim.wait_screen("End ")
    nvim.keys("2<CR>")


def test_another_host_fills_it_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start(start_nvim, scripted_server, jobs(job(1, "make")))
    os.kill(nvim.lua("return require('eca.host').pid()"), signal.SIGKILL)
    nvim.wait_screen("not live, the plugin host is not running")
    nvim.take_errors()
    nvim.keys(":Eca restart<CR>")
    nvim.wait_screen("running  ")


def test_a_key_for_a_row_that_has_just_gone_does_nothing(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    ended = [job(number, f"job {number}", "failed") for number in range(51)]
    steps = (jobs(*ended), gate(tmp_path / "1"), jobs())  # of these 50 are kept
    nvim = start(start_nvim, scripted_server, *steps, shows="failed")
    nvim.lua("vim.g.eca = vim.tbl_extend('force', vim.g.eca, { approval = { guard = 60000 } })")
    nvim.lua("require('eca.config').forget()")
    (tmp_path / "1").write_text("")
    nvim.wait_until("vim.api.nvim_buf_line_count(0) == 50")
    nvim.keys("c")
    nvim.wait_screen("another row has just come here")
    nvim.lua("vim.g.eca = vim.tbl_extend('force', vim.g.eca, { approval = { guard = 0 } })")
    nvim.lua("require('eca.config').forget()")
    nvim.keys("c")
    nvim.wait_screen("its chat is not open")
