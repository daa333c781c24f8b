"""The context line: adding, removing, and what is refused."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import expect, handshake
from tests.support.servers import ScriptedServer
from tests.ui.beside import CODE, collected, open_beside
from tests.ui.staged import CHAT, WITHOUT_HOST, wait_sent
from tests.ui.talk import start_chat


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return open_beside(start_nvim, workspace)


ADD = "return require('eca').add_context(...)"
REMOVE = "return require('eca').remove_context(...)"


def on_line(nvim: Neovim) -> list[str]:
    """Return what stands on the context line, as it is written."""
    labels: list[str] = nvim.lua("return require('eca.context').labels(...)", CHAT)
    return labels


def test_contexts_are_taken_off_by_command_with_completion(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add my notes/to do.txt<CR>:4Eca add<CR>")
    assert on_line(stage) == ["@code.txt:1-2", "@my\\ notes/to\\ do.txt", "@code.txt:4"]
    assert stage.eval("getcompletion('Eca add! @code', 'cmdline')") == [
        "@code.txt:1-2",
        "@code.txt:4",
    ]
    stage.keys(":Eca add! @code.txt:4-4<CR>")
    assert on_line(stage) == ["@code.txt:1-2", "@my\\ notes/to\\ do.txt"]
    stage.keys(":Eca! add my notes/to do.txt<CR>")
    assert on_line(stage) == ["@code.txt:1-2"]
    stage.wait_screen(lambda screen: "to\\ do.txt" not in screen)
    stage.keys(":Eca add!<CR>")
    stage.wait_screen(lambda screen: "@code.txt:1-2" not in screen)
    assert on_line(stage) == []
    stage.keys(":Eca add! code.txt<CR>")
    stage.wait_screen("code.txt is not on the context line")


def test_what_was_taken_off_is_not_sent(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add! code.txt<CR>:EcaChat go<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert [item["type"] for item in prompt["contexts"]] == ["cursor"]


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("what", "left"),
    [
        ("@code.txt:1-2", ["@README.md"]),
        ("code.txt:1-2", ["@README.md"]),
        ("code.txt", ["@README.md"]),
        ("README.md", ["@code.txt:1-2"]),
        ({"type": "file", "path": "README.md"}, ["@code.txt:1-2"]),
        ({"type": "file", "path": "code.txt", "first": 1, "last": 2}, ["@README.md"]),
        ("nothing.txt", ["@code.txt:1-2", "@README.md"]),
        (7, ["@code.txt:1-2", "@README.md"]),
    ],
)
def test_contexts_are_taken_off_in_lua(
    stage: Neovim, workspace: Path, what: Value, left: list[str]
) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add README.md<CR>")
    if isinstance(what, dict):
        what = {**what, "path": str(workspace / what["path"])}
    assert stage.lua(REMOVE, what) is (len(left) == 1)
    assert on_line(stage) == left


SELECT = """
local wanted = ...
vim.ui.select = function(items, options, done)
  _G.shown = vim.tbl_map(options.format_item, items)
  for index, line in ipairs(_G.shown) do
    if line:find(wanted, 1, true) == 1 then
      return done(items[index])
    end
  end
  done(nil)
end
"""


@pytest.mark.parametrize("how", ["<Esc>:Eca contexts<CR>", "<Esc>gC"])
def test_what_goes_along_is_listed_and_taken_away(stage: Neovim, how: str) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>")
    stage.lua(SELECT, "@code.txt:1-2")
    stage.keys(f"<C-w>lisee @README.md and @README.md, now{how}")
    shown = stage.lua("return _G.shown")
    assert shown == ["@code.txt:1-2", "@cursor  always", "@README.md  in the prompt"]
    assert on_line(stage) == []
    stage.lua(SELECT, "@README.md")
    stage.keys(how)
    assert stage.buffer_lines() == ["see and , now"]
    stage.lua(SELECT, "@cursor")
    stage.keys(how)
    stage.wait_screen("contexts.cursor")


def test_what_goes_along_includes_the_draft(stage: Neovim) -> None:
    stage.keys("<C-w>lisee @README.md<Esc>")
    contexts = stage.lua("return require('eca').contexts()")
    assert [item["type"] for item in contexts] == ["cursor", "file"]


def test_the_chat_itself_is_no_context(stage: Neovim, workspace: Path) -> None:
    """From the chat's own windows the last code window's file is meant."""
    for window in ("<C-w>l", "<C-w>l<C-w>k"):
        stage.keys(f"{window}:Eca add<CR>")
        assert on_line(stage) == ["@code.txt"]
        stage.keys(":Eca add!<CR>")
        assert on_line(stage) == []
        stage.keys("<C-w>h")
    stage.keys("<C-w>l:lua require('eca.keymaps').run('AddContext')<CR>")
    assert on_line(stage) == ["@code.txt"]


@pytest.mark.parametrize(("select", "wanted"), [("", "@code.txt"), ("2GVj<Esc>", "@code.txt:2-3")])
def test_a_range_in_the_chat_means_what_was_selected_in_code(
    stage: Neovim, select: str, wanted: str
) -> None:
    stage.keys(f"gg{select}<C-w>lione<CR>two<Esc>Vk:EcaChat why?<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"] == f"why? {wanted}"
    assert on_line(stage) == []


def test_without_a_code_window_nothing_is_added(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=120)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys(":Eca add<CR>")
    nvim.wait_screen("no code window to add from")
    assert on_line(nvim) == []
    nvim.keys(":1EcaChat why?<CR>")
    (prompt,) = wait_sent(nvim, "prompt")
    assert list(prompt["contexts"]) == []


def test_lines_of_a_file_are_optional_each(stage: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    for lines in ({"first": 3}, {"last": 2}, {"first": 3, "last": 3}):
        stage.lua(ADD, {"type": "file", "path": path, **lines})
    assert on_line(stage) == ["@code.txt:3-", "@code.txt:1-2", "@code.txt:3"]
    stage.keys("<C-w>lityping goes on<Esc>")
    stage.wait_screen("@code.txt:3- ")
    assert len(collected(stage)) == 4
    assert stage.lua(REMOVE, "@code.txt:3-")


@pytest.fixture
def talk(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> tuple[Neovim, ScriptedServer]:
    """Neovim with the whole plugin, in a file of code beside a chat."""
    (workspace / "code.txt").write_text(CODE)
    server = scripted_server(handshake(), expect("chat/prompt"))
    nvim = start_chat(start_nvim, server, "code.txt", columns=160)
    nvim.keys("<Esc><C-w>h")
    return nvim, server


WRONG: list[tuple[Value, str]] = [
    ("code.txt", 'no such type: "code.txt", see :help eca-context-tables'),
    ([], "a context is a table with a type, not []"),
    ({"type": "file", "path": 3}, "a context of type 'file' needs a path, a string, not 3"),
    ({"type": "file", "path": "code.txt\0"}, "a path cannot have a NUL byte: "),
    ({"type": "file", "path": "code.txt", "first": 5}, "code.txt has no line 5, its last one is 4"),
    ({"type": "buffer", "buf": 999}, "there is no buffer 999"),
    ({"type": "buffer", "buf": 0, "first": 99}, "has no line 99, its last one is 4"),
]


def test_what_is_no_context_is_told_and_taken_off(talk: tuple[Neovim, ScriptedServer]) -> None:
    nvim, _ = talk
    chat = nvim.lua("return require('eca').status().chat")
    for item, fault in WRONG:
        nvim.lua(ADD, item)
        nvim.wait_until("vim.fn.execute('messages'):find([=[context not added: ]=], 1, true)")
        nvim.wait_until(f"vim.fn.execute('messages'):find([=[{fault}]=], 1, true)")
        assert nvim.lua("return require('eca.context').labels(...)", chat) == []
        nvim.command("messages clear")


def test_lines_end_where_the_file_does_as_the_user_sees_it(
    talk: tuple[Neovim, ScriptedServer],
) -> None:
    nvim, _ = talk
    nvim.keys(":Eca add code.txt:2-4<CR>:Eca add code.txt:4-99<CR>:Eca add code.txt:2-99<CR>")
    nvim.wait_screen("@code.txt:2-4 · @code.txt:4 · @cursor")
    nvim.command("call append('$', repeat(['more'], 20))")
    nvim.keys(":Eca add code.txt:20-30<CR>")
    nvim.wait_screen("@code.txt:20-24")
    nvim.command("edit!")


def test_contexts_of_one_prompt_are_looked_at_by_the_host(
    talk: tuple[Neovim, ScriptedServer], workspace: Path
) -> None:
    nvim, server = talk
    path = str(workspace / "code.txt")
    nvim.command("new | call setline(1, ['one', 'two', 'three'])")
    items = [{"type": "buffer", "buf": 0, "first": 3, "last": 2}, {"type": "flie"}]
    items += [{"type": "file", "path": "code.txt", "last": 2}]
    nvim.lua("require('eca').send('go', { contexts = ... })", items)
    nvim.wait_until("vim.fn.execute('messages'):find('context not sent: no such type', 1, true)")
    nvim.wait_for(lambda: server.received("chat/prompt"), "the prompt")
    (prompt,) = server.received("chat/prompt")
    _, text, file = prompt["params"]["contexts"]
    assert (text["type"], text["content"]) == ("text", "two\nthree")
    assert (file["path"], file["linesRange"]) == (path, {"start": 1, "end": 2})


@pytest.mark.parametrize("lines", ["4-2", "2-4"])
def test_lines_are_put_in_order(stage: Neovim, lines: str) -> None:
    stage.keys(f":Eca add code.txt:{lines}<CR>")
    assert on_line(stage) == ["@code.txt:2-4"]


def test_lines_of_a_token_are_put_in_order(stage: Neovim) -> None:
    first, second = collected(stage, "@code.txt:3-1 @code.txt:0-2")[1:]
    assert (first["first"], first["last"]) == (1, 3)
    assert (second["first"], second["last"]) == (1, 2)


def test_one_line_is_one_number(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:2-2<CR>:Eca add code.txt:3<CR>")
    assert on_line(stage) == ["@code.txt:2", "@code.txt:3"]
    stage.keys(":Eca add! code.txt:2<CR>:Eca add! code.txt:3-3<CR>")
    assert on_line(stage) == []


def test_the_cursor_can_stand_on_the_line(start_nvim: StartNeovim, workspace: Path) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"contexts": {"cursor": False}})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys(":Eca add @cursor<CR>")
    assert [item["type"] for item in collected(nvim)] == ["cursor"]
    nvim.keys(":Eca add! @cursor<CR>")
    assert collected(nvim) == []
