"""One prompt without a screen: what is printed, and the exit code."""

import subprocess
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY, neovim_binary
from tests.ui.staged import WITHOUT_HOST

SCENE = """
local host = package.loaded['eca.host']
local function draw(op)
  require('eca.view.ops').draw({ op })
end
local function emit(event, payload, data)
  data.chat = payload.chat
  draw({ op = 'emit', event = event, data = data })
end
local function open(payload, block, kind, header)
  local op = { op = 'open', chat = payload.chat, block = block, kind = kind, depth = 0 }
  op.header = header or {}
  draw(op)
end
local function body(payload, block, lines)
  draw({ op = 'body', chat = payload.chat, block = block, lines = lines, marks = {} })
end
local function server(state, label)
  draw({ op = 'server', server = 'eca', state = state, label = label })
end
local answers = {}
function answers.prompt(payload)
  vim.schedule(function() SCENE end)
end
function answers.transcript(payload)
  draw({ op = 'answer', request = payload.request, value = '# You\\n\\nhello' })
end
function answers.decide(payload)
  if payload.choice ~= 'allow' then
    emit('EcaTurnFinished', payload, { reason = 'rejected' })
    return
  end
  draw({ op = 'notify', level = 'info', text = 'approved' })
  open(payload, 1, 'user')
  open(payload, 2, 'tool', { { 'edit', '' } })
  emit('EcaTurnFinished', payload, { reason = 'done' })
end
function answers.stop(payload)
  emit('EcaTurnFinished', payload, { reason = 'stopped' })
end
host.send = function(name, payload)
  if answers[name] then answers[name](payload) end
end
"""

DONE = "emit('EcaTurnFinished', payload, { reason = 'done' })"
SAY = """
open(payload, 1, 'user')
open(payload, 2, 'KIND')
body(payload, 2, { 'text' })
"""
FINISH = SAY.replace("KIND", "assistant") + DONE
FAIL = SAY.replace("KIND", "note") + DONE
STOP = "emit('EcaTurnFinished', payload, { reason = 'stopped' })"
DIE = "server('starting', '') server('failed', 'exit 3')"
LOGIN = "draw({ op = 'status', chat = payload.chat, status = { state = 'login' } })"
ASK = """
local item = { chat = payload.chat, id = 'a', block = 1, digest = 'a', kind = 'approval' }
item.title = 'edit x'
item.choices = { { id = 'allow', name = 'allow', kind = 'allow_once' } }
draw({ op = 'pending', items = { item } })
emit('EcaApprovalRequested', payload, { id = 'a' })
"""


def run(
    nvim_version: str, home: Path, scene: str, prompt: str = "hello", **environment: str
) -> subprocess.CompletedProcess[str]:
    script = home / "scene.lua"
    lua = WITHOUT_HOST + SCENE.replace("SCENE", scene)
    start = "vim.api.nvim_create_autocmd('VimEnter', { callback = function() START end })"
    body = lua + f"require('eca.commands.headless').run({prompt!r})"
    script.write_text(start.replace("START", body))
    return subprocess.run(
        [
            *(str(neovim_binary(nvim_version)), "--clean", "--headless"),
            *("--cmd", f"set rtp^={REPOSITORY}", "--cmd", f"luafile {script}"),
        ],
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_finished_turn_is_printed(nvim_version: str, tmp_path: Path) -> None:
    result = run(nvim_version, tmp_path, FINISH)
    assert (result.returncode, result.stdout, result.stderr) == (0, "# You\n\nhello\n", "")


@pytest.mark.parametrize(
    ("scene", "complaint"),
    [
        (STOP, "eca: the turn ended: stopped\n"),
        (LOGIN, "eca: cannot log in without a user\neca: the turn ended: stopped\n"),
        (DIE, "eca: the server exited\n"),
        (FAIL, "eca: the model did not answer\n"),
    ],
)
def test_any_other_end_is_a_failure(
    nvim_version: str, tmp_path: Path, scene: str, complaint: str
) -> None:
    result = run(nvim_version, tmp_path, scene)
    assert (result.returncode, result.stderr) == (1, complaint)


def test_the_reason_of_an_end_is_told_too(nvim_version: str, tmp_path: Path) -> None:
    note = """
    open(payload, 1, 'note')
    body(payload, 1, { 'the server ended, exit code 3', 'no\tmemory' })
    """
    result = run(nvim_version, tmp_path, DIE + note)
    told = "eca: the server ended, exit code 3\neca: no memory\neca: the server exited\n"
    assert (result.returncode, result.stderr) == (1, told)


def test_a_command_is_answered_by_what_the_server_says(nvim_version: str, tmp_path: Path) -> None:
    scene = FAIL.replace("'done'", "'done', command = true")
    assert run(nvim_version, tmp_path, scene, prompt="/costs").returncode == 0


def test_the_path_of_a_file_is_no_command(nvim_version: str, tmp_path: Path) -> None:
    assert run(nvim_version, tmp_path, FAIL, prompt="/etc/hosts is wrong").returncode == 1


@pytest.mark.either_nvim
def test_a_host_that_is_silent_is_not_waited_for(nvim_version: str, tmp_path: Path) -> None:
    result = run(nvim_version, tmp_path, f"answers.transcript = nil {DIE}")
    assert (result.returncode, result.stderr) == (1, "eca: the server exited\n")


def test_nobody_approves(nvim_version: str, tmp_path: Path) -> None:
    result = run(nvim_version, tmp_path, ASK)
    assert result.returncode == 1
    told = "eca: edit x: rejected: no user to ask (ECA_APPROVE=1 allows all)\n"
    assert result.stderr.startswith(told)


def test_all_is_approved_when_that_was_asked_for(nvim_version: str, tmp_path: Path) -> None:
    result = run(nvim_version, tmp_path, ASK, ECA_APPROVE="1")
    assert result.returncode == 0
    assert "eca: edit x: allowed\n" in result.stderr


def test_no_prompt_is_told(nvim_version: str, tmp_path: Path) -> None:
    result = run(nvim_version, tmp_path, FINISH, prompt=" ")
    assert (result.returncode, result.stderr) == (1, "eca: no prompt given\n")
