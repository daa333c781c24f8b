"""Answers to requests to the editor, and contexts of prompts, as the server gets them."""

from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, ask, expect, handshake, pause, reply, status, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import lines_of, prompts, say, start_chat, wait_idle

Value: TypeAlias = Any

PUBLISH = """
local path, items = ...
local buf = vim.fn.bufadd(path)
vim.fn.bufload(buf)
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), buf, items)
"""
ODD = "sp ace %41 #ü 'q\" [1] $HOME.txt"
"""A file's name with all that a URI, a pattern or a command line could trip over."""
NAVIGATION = ("definition", "references")
TOY_SERVER = """
local target = ...
local place = {
  uri = vim.uri_from_fname(target),
  range = { start = { line = 4, character = 4 }, ['end'] = { line = 4, character = 7 } },
}
local function answer(method)
  if method == 'initialize' then
    local encoding = { positionEncoding = 'utf-16', definitionProvider = true }
    encoding.referencesProvider = true
    return { capabilities = encoding }
  end
  return vim.startswith(method, 'textDocument/') and { place } or nil
end
vim.api.nvim_create_autocmd('FileType', { pattern = 'python', callback = function(event)
  local server = function()
    return {
      request = function(method, params, callback)
        if vim.startswith(method, 'textDocument/') then _G.asked = params end
        callback(nil, answer(method))
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end
  vim.lsp.start({ name = 'toy', cmd = server, root_dir = '/' }, { bufnr = event.buf })
end })
"""


def finding(message: str, line: int = 0, severity: int = 1, **more: Value) -> dict[str, Value]:
    """Make a diagnostic as `vim.diagnostic` has it; lines are 0-based."""
    place = {"lnum": line, "col": 1, "end_lnum": line, "end_col": 3}
    return place | {"severity": severity, "message": message} | more


def published(nvim: Neovim, path: Path, *items: dict[str, Value]) -> None:
    """Let a linter have found something in a file."""
    nvim.lua(PUBLISH, str(path), list(items))


def asking(method: str, params: Value) -> Steps:
    """Ask the editor once the user has sent a prompt."""
    return turn(ask(method, params))


def answered(nvim: Neovim, server: ScriptedServer) -> Value:
    """Send a prompt and wait for the editor's answer."""
    say(nvim, "go")
    return nvim.wait_for(server.answers, "the editor's answer")[0]["result"]


# --- diagnostics ---------------------------------------------------------------------------------


@pytest.mark.either_nvim
@pytest.mark.parametrize("base", [None, 0, 1])
def test_the_diagnostics_of_one_file(
    base: int | None, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    uri = "file://$workspace/src/calc.py"
    server = scripted_server(handshake(), asking("editor/getDiagnostics", {"uri": uri}))
    settings = {} if base is None else {"diagnostics": {"base": base}}
    nvim = start_chat(start_nvim, server, settings=settings)
    path = nvim.launch.cwd / "src" / "calc.py"
    published(nvim, path, finding("bad name", 1, 2, source="lint", code="E1"))
    published(nvim, nvim.launch.cwd / "README.md", finding("of another file"))
    first = 1 if base is None else base
    assert answered(nvim, server) == {
        "diagnostics": [
            {
                "uri": path.as_uri(),
                "severity": "warning",
                "range": {
                    "start": {"line": 1 + first, "character": 1 + first},
                    "end": {"line": 1 + first, "character": 3 + first},
                },
                "source": "lint",
                "code": "E1",
                "message": "bad name\n",
            }
        ]
    }


def test_all_diagnostics_are_those_of_the_workspace(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(handshake(), asking("editor/getDiagnostics", {}))
    nvim = start_chat(start_nvim, server)
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    published(nvim, outside, finding("nobody's business"))
    published(nvim, nvim.launch.cwd / "README.md", finding("a", severity=1), finding("b", 1, 2))
    published(nvim, nvim.launch.cwd / "src/calc.py", finding("c", 0, 3), finding("d", 1, 4))
    found = answered(nvim, server)["diagnostics"]
    told = sorted((it["message"].rstrip(), it["severity"]) for it in found)
    assert told == [("a", "error"), ("b", "warning"), ("c", "info"), ("d", "hint")]


def test_odd_names_are_found_and_told_percent_encoded(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    path = workspace / ODD
    path.write_text("one\n")
    params = {"uri": path.as_uri()}
    server = scripted_server(handshake(), asking("editor/getDiagnostics", params))
    nvim = start_chat(start_nvim, server)
    published(nvim, path, finding("here"))
    [found] = answered(nvim, server)["diagnostics"]
    assert unquote(found["uri"]) == f"file://{path}"
    assert not set(found["uri"]) & set(' "%#[]ü') - {"%"}
    assert "%2541" in found["uri"]


def test_an_odd_folder_is_introduced_percent_encoded(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    folder = tmp_path / "a b ü #1 100%"
    folder.mkdir()
    (folder / "x.txt").write_text("one\n")
    server = scripted_server(handshake(), asking("editor/getDiagnostics", {}))
    nvim = start_chat(start_nvim, server, cwd=folder)
    published(nvim, folder / "x.txt", finding("here"))
    [found] = answered(nvim, server)["diagnostics"]
    assert unquote(found["uri"]) == f"file://{folder}/x.txt"
    [introduction] = server.received("initialize")
    params = introduction["params"]
    assert params["workspaceFolders"] == [{"uri": folder.as_uri(), "name": folder.name}]
    assert params["processId"] == nvim.pid
    assert params["clientInfo"]["name"] == "Neovim"


PROMPTS = {
    "getchar()": ":call getchar()<CR>",
    "terminal": "<C-w>h:terminal cat<CR>i",
    "another tab": ":tabnew<CR>",
    "visual": "<C-w>hv",
    "command line": ":echo 'x",
}


@pytest.mark.either_nvim
@pytest.mark.parametrize("place", PROMPTS)
def test_diagnostics_are_told_wherever_the_user_is(
    place: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps = [*pause(150), *ask("editor/getDiagnostics", {})]
    server = scripted_server(handshake(), expect("chat/prompt"), steps)
    nvim = start_chat(start_nvim, server, "README.md")
    published(nvim, nvim.launch.cwd / "README.md", finding("here"))
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "go")
    nvim.keys(PROMPTS[place])
    [answer] = nvim.wait_for(server.answers, "the editor's answer")
    assert [it["message"] for it in answer["result"]["diagnostics"]] == ["here\n"]
    nvim.leave_prompt()


# --- definitions and references ------------------------------------------------------------------


@pytest.mark.parametrize("kind", NAVIGATION)
def test_language_servers_are_asked(
    kind: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    method = f"editor/get{kind.title()}"
    place = {"uri": "file://$workspace/src/calc.py", "position": {"line": 9, "character": 7}}
    server = scripted_server(handshake(), asking(method, place))
    nvim = start_chat(start_nvim, server)
    target = nvim.launch.cwd / "src" / "calc.py"
    nvim.lua(TOY_SERVER, str(target))
    nvim.command("wincmd h | edit src/calc.py | wincmd l | EcaChat")
    result = answered(nvim, server)
    span = {"start": {"line": 5, "character": 5}, "end": {"line": 5, "character": 8}}
    wanted = {"status": "success", "locations": [{"uri": target.as_uri(), "range": span}]}
    assert {key: result.get(key) for key in wanted} == wanted
    assert nvim.lua("return _G.asked.position") == {"line": 8, "character": 6}


def test_without_a_language_server_the_agent_is_told_so(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    place = {"uri": "file://$workspace/src/calc.py", "position": {"line": 9, "character": 7}}
    server = scripted_server(handshake(), asking("editor/getDefinition", place))
    nvim = start_chat(start_nvim, server)
    assert answered(nvim, server)["status"] in {"starting", "success"}


# --- contexts ------------------------------------------------------------------------------------


def sent_contexts(nvim: Neovim, server: ScriptedServer) -> list[dict[str, Value]]:
    """Return the contexts of the first prompt, paths relative to the workspace."""
    [prompt] = nvim.wait_for(lambda: server.received("chat/prompt"), "the prompt")
    contexts: list[dict[str, Value]] = prompt["params"].get("contexts", [])
    for context in contexts:
        if "path" in context:
            context["path"] = str(Path(context["path"]).relative_to(nvim.launch.cwd))
    return contexts


def file(path: str, first: int | None = None, last: int | None = None) -> dict[str, Value]:
    """Return a file context as the protocol has it."""
    lines = {} if first is None else {"linesRange": {"start": first, "end": last}}
    return {"type": "file", "path": path} | lines


def cursor(path: str, *places: int) -> dict[str, Value]:
    """Return a cursor context from line and character of both ends."""
    line, character, last_line, last_character = places
    start = {"line": line, "character": character}
    end = {"line": last_line, "character": last_character}
    return {"type": "cursor", "path": path, "position": {"start": start, "end": end}}


HERE = cursor("README.md", 1, 1, 1, 1)
SENT: dict[str, tuple[str, list[dict[str, Value]]]] = {
    "cursor": ("<C-w>h3Gl<C-w>ligo<C-s>", [cursor("README.md", 3, 2, 3, 2)]),
    "selection": ("<C-w>h3Gvl<Esc><C-w>ligo<C-s>", [cursor("README.md", 3, 1, 3, 3)]),
    "@file": ("isee @src/calc.py<C-s>", [HERE, file("src/calc.py")]),
    "@file:lines": ("isee @src/calc.py:2-5<C-s>", [HERE, file("src/calc.py", 2, 5)]),
    "@folder": ("isee @src/<C-s>", [HERE, {"type": "directory", "path": "src"}]),
    "@url": (
        "isee @https://a.example/b<C-s>",
        [HERE, {"type": "web", "url": "https://a.example/b"}],
    ),
    "range": ("<C-w>h:1,2EcaChat<CR>igo<C-s>", [HERE, file("README.md", 1, 2)]),
    "selected lines": (
        "<C-w>hVj:EcaChat go<CR>",
        [cursor("README.md", 1, 1, 2, 1), file("README.md", 1, 2)],
    ),
    ":Eca add": ("<C-w>h:Eca add src/mod.lua<CR>:EcaChat go<CR>", [file("src/mod.lua"), HERE]),
    "no file": ("isee @src/nothing.py<C-s>", [HERE]),
}


@pytest.mark.either_nvim
@pytest.mark.parametrize("how", SENT)
def test_contexts_go_along_with_a_prompt(
    how: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    keys, wanted = SENT[how]
    server = scripted_server(handshake(), turn())
    nvim = start_chat(start_nvim, server, "README.md")
    nvim.keys(keys)
    contexts = sent_contexts(nvim, server)
    assert contexts[: len(wanted)] == wanted
    assert prompts(server)[0].split()[0] in keys


def wait_answers(nvim: Neovim, count: int) -> None:
    nvim.wait_for(lambda: lines_of(nvim).count("well") >= count, "the answer")


def test_lines_added_to_a_chat_that_goes_on_are_read_with_the_next_prompt(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    """The server reads contexts with the first prompt alone, and `@/path:L1-L2` with each."""
    server = scripted_server(handshake(), *[turn(text("well"))] * 3)
    nvim = start_chat(start_nvim, server, "README.md")
    for keys in ("ione<C-s>", "<Esc><C-w>h:1,2EcaChat why?<CR>", "ion<C-s>"):
        before = lines_of(nvim).count("well")
        nvim.keys(keys)
        wait_answers(nvim, before + 1)
        wait_idle(nvim)
    lines = f"why? @README.md:1-2\n<contexts>\n@{workspace}/README.md:L1-L2\n</contexts>"
    assert prompts(server) == ["one", lines, "on"]
    contexts = [it["params"]["contexts"] for it in server.received("chat/prompt")]
    assert [[it["type"] for it in each] for each in contexts] == [["cursor"]] * 3
    nvim.wait_until("require('eca').transcript():find('why?', 1, true)")
    assert "<contexts>" not in nvim.lua("return require('eca').transcript()")


def test_without_a_file_no_cursor_goes_along(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    assert sent_contexts(nvim, server) == []


def test_agent_and_model_go_along_with_every_prompt(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    answer = {"chatId": "$chat", "model": "mock/mock-2", "status": "prompting"}
    quick = [*expect("chat/prompt"), *reply("chat/prompt", answer), *status("idle")]
    server = scripted_server(handshake(), quick, quick)
    nvim = start_chat(start_nvim, server)
    nvim.wait_until("require('eca').status().model")
    nvim.keys(":Eca model mock/mock-2<CR>:Eca agent plan<CR>:Eca trust<CR>")
    say(nvim, "one")
    nvim.wait_for(lambda: prompts(server) == ["one"], "the first prompt")
    wait_idle(nvim)
    say(nvim, "two")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "the second prompt")
    for prompt in server.received("chat/prompt"):
        told = {key: prompt["params"].get(key) for key in ("model", "agent", "trust")}
        assert told == {"model": "mock/mock-2", "agent": "plan", "trust": True}
