"""The panel of jobs on a screen: a job's output is followed, read, and the job is ended."""

from pathlib import Path

import pytest
from tests.agents.acp.terminal_turns import WAIT
from tests.support.factories import PrepareReplay, PrepareScript, StartNeovim
from tests.support.script import Steps, Value, expect, gate, reply
from tests.ui.panels.test_window import JOBS, job, jobs, lines, start
from tests.ui.talk import say, start_chat, wait_idle, wait_line
from tests.ui.test_acp_terminals import HOSTILE, approve, run, terminal_chat

pytestmark = pytest.mark.either_nvim

LISTEN = """
vim.g.heard = {}
vim.api.nvim_create_autocmd('User', { pattern = 'EcaJobsChanged', callback = function(event)
  vim.g.heard = vim.list_extend(vim.g.heard, { event.data })
end })
"""


def prints(*texts: str, status: str = "running") -> Steps:
    """Answer the next request for output."""
    printed = [
        {"text": it.removeprefix("!"), "stream": "stderr" if it.startswith("!") else "stdout"}
        for it in texts
    ]
    answer = {"lines": printed, "status": status, "exitCode": None}
    return [*expect("jobs/readOutput"), *reply("jobs/readOutput", answer)]


def test_a_job_is_followed_read_and_ended(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    numbered = [f"line {number}" for number in range(300)]
    made = job(1, "make all")
    server: Steps = [
        *(*jobs(made, job(2, "false", "failed")), *gate(tmp_path / "0")),
        *prints("\x1b[32mfirst\x1b[m", "!warned"),
        *(*gate(tmp_path / "1"), *prints(*numbered), *gate(tmp_path / "2")),
        *prints(*numbered, "10 %\rall \u202edone"),
        *(*expect("jobs/kill"), *jobs(made | {"status": "killed"}, job(2, "false", "failed"))),
        *reply("jobs/kill", {"killed": True}),
    ]
    nvim = start(start_nvim, scripted_server, server, init=LISTEN)
    assert " job: make all" in nvim.screen.text()
    listed: Value = nvim.lua("return require('eca').jobs()")
    assert [(it["title"], it["state"], it.get("exit_code")) for it in listed] == [
        ("make all", "running", None),
        ("false", "failed", 3),
    ]
    nvim.keys("<CR>")
    (tmp_path / "0").write_text("")
    nvim.wait_screen("warned")
    assert nvim.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 1
    shown = lines(nvim)
    assert shown[1].startswith("    server eca · began 2020-01-0")
    assert shown[2:4] == ["    first", "    warned"]
    nvim.keys("4G")
    (tmp_path / "1").write_text("")
    nvim.wait_screen("line 299")  # the cursor follows the end
    assert lines(nvim)[2] == "    … 100 earlier lines: o shows all in a buffer"
    (tmp_path / "2").write_text("")
    nvim.wait_screen("all <U+202E>done")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "    all <U+202E>done"
    nvim.keys("o")
    nvim.wait_until("vim.bo.filetype == 'eca-output'")
    assert nvim.lua("return vim.api.nvim_buf_line_count(0)") == 301
    assert nvim.lua("return vim.api.nvim_win_get_cursor(0)[1]") == 301
    nvim.keys("q")
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr(...))[1])", JOBS)
    nvim.keys("x")
    nvim.wait_screen("End make all?")
    nvim.keys("1<CR>")
    nvim.wait_until("require('eca').jobs()[1].state == 'killed'")
    nvim.wait_screen("jobs: 0 running, 2 ended")
    nvim.wait_screen("does not know jobs/")  # the last row that moves: a key is refused till then
    nvim.keys("<CR>")
    nvim.wait_until("#vim.api.nvim_buf_get_lines(0, 0, -1, true) == 2")
    assert nvim.lua("return vim.api.nvim_get_current_line()").startswith("killed ")
    heard = nvim.lua("return vim.g.heard")
    assert [it["server_name"] for it in heard] == ["eca"] * len(heard)
    assert [it["state"] for it in heard[-1]["jobs"]] == ["killed", "failed"]


def test_jobs_of_a_server_that_has_ended_stay_and_its_end_was_asked_about(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start(start_nvim, scripted_server, jobs(job(1, "make"), job(2, "serve")))
    assert " 2 jobs: make" in nvim.screen.text()
    nvim.keys(":Eca restart<CR>")
    nvim.wait_screen("It ends 2 jobs that run, see :Eca jobs: make, serve.")
    nvim.keys("1<CR>")
    nvim.wait_screen("2 running, 2 ended")
    assert sum(line.startswith("killed") for line in lines(nvim)) >= 2


def test_a_command_in_a_terminal_is_read_and_ended(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    line = f"printf '\\033[31m{HOSTILE}red\\033[0m\\n10%%\\r20%%'; exec sleep 60"
    nvim, _ = terminal_chat(start_nvim, tmp_path / "agent", run(line, {"request": WAIT}))
    say(nvim, "go")
    approve(nvim)
    wait_line(nvim, " · 20%")
    assert "job: " not in nvim.screen.text(), "it ends with its turn, and asks nothing"
    assert nvim.lua("return require('eca.state.mirror').jobs('sdk')") == []
    nvim.keys(":Eca jobs<CR>")
    nvim.wait_until("vim.startswith(vim.api.nvim_get_current_line(), 'running')")
    nvim.keys("<CR>")
    nvim.wait_until("vim.api.nvim_buf_get_lines(0, -2, -1, true)[1] == '    20%'")
    assert nvim.lua("return require('eca').jobs()[1].state") == "running"
    nvim.keys("x")
    nvim.wait_screen("End printf")
    nvim.keys("1<CR>")
    nvim.wait_until("vim.startswith(vim.api.nvim_get_current_line(), 'killed')")
    wait_idle(nvim)


def test_a_recorded_job_is_read_and_ended(start_nvim: StartNeovim, replay: PrepareReplay) -> None:
    nvim = start_chat(start_nvim, replay("jobs").command)
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "bg")
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.command("Eca approve")
    nvim.wait_until("#require('eca').jobs() == 1")
    nvim.keys(":Eca jobs<CR>")
    nvim.wait_until("vim.startswith(vim.api.nvim_get_current_line(), 'running')")
    assert "Mock chat title" in nvim.lua("return vim.api.nvim_get_current_line()")
    nvim.keys("<CR>")
    nvim.wait_until("vim.list_contains(vim.api.nvim_buf_get_lines(0, 0, -1, true), '    line 1')")
    nvim.keys("x")
    nvim.wait_screen("End for i in")
    nvim.keys("1<CR>")
    nvim.wait_until("vim.startswith(vim.api.nvim_get_current_line(), 'killed')")
    assert "    line 1" in lines(nvim)
