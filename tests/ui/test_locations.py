"""Definitions and references, from a language server in the test's Neovim."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value

SERVER = """
local function serve(encoding, answers)
  return function(dispatchers)
    local closing = false
    return {
      request = function(method, params, callback)
        if method == 'initialize' then
          callback(nil, { capabilities = {
            positionEncoding = encoding,
            definitionProvider = true,
            referencesProvider = true,
          } })
        elseif method == 'shutdown' then
          callback(nil, nil)
        else
          package.loaded.asked = { method, params }
          callback(nil, answers[method])
        end
        return true, 1
      end,
      notify = function(method)
        if method == 'exit' then
          dispatchers.on_exit(0, 0)
        end
        return true
      end,
      is_closing = function() return closing end,
      terminate = function() closing = true end,
    }
  end
end
package.loaded.serve = serve
"""
START = """
local encoding, answers = ...
vim.api.nvim_create_autocmd('FileType', { pattern = 'text', callback = function(event)
  vim.lsp.start({ name = 'toy', cmd = package.loaded.serve(encoding, answers), root_dir = '/' },
    { bufnr = event.buf })
end })
"""
FIND = """
local kind, path, line, column = ...
package.loaded.found = nil
require('eca.editor.lookups').locations(kind, path, line, column, function(found)
  package.loaded.found = { found = found }
end)
"""


@pytest.fixture
def toy(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim with a language server at hand and two files of text, neither of them open."""
    (workspace / "use.txt").write_text("one\nä😀 name here\n")
    (workspace / "made.txt").write_text("ü😀 name\n")
    return start_nvim(init=SERVER)


def location(path: Path, line: int, start: int, end: int) -> dict[str, Value]:
    """Make a location in a server's units."""
    place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"uri": path.as_uri(), "range": place}


def find(nvim: Neovim, kind: str, path: Path, line: int, column: int) -> Value:
    """Look for something until a server has answered."""

    def ask() -> Value:
        nvim.lua(FIND, kind, str(path), line, column)
        found = nvim.lua("return (package.loaded.found or {}).found")
        return found if isinstance(found, list) else None

    return nvim.wait_for(ask, "an answer of the language server")


@pytest.mark.parametrize(
    ("encoding", "sent", "told"),
    [("utf-16", 4, (4, 8)), ("utf-8", 7, (7, 11)), ("utf-32", 3, (3, 7))],
)
def test_columns_are_utf16_both_ways(
    toy: Neovim, workspace: Path, encoding: str, sent: int, told: tuple[int, int]
) -> None:
    answer = location(workspace / "made.txt", 0, *told)
    toy.lua(START, encoding, {"textDocument/definition": answer})
    found = find(toy, "definition", workspace / "use.txt", 2, 5)
    assert found == [
        {
            "path": str(workspace / "made.txt"),
            "start_line": 1,
            "start_column": 5,
            "end_line": 1,
            "end_column": 9,
        }
    ]
    method, params = toy.lua("return package.loaded.asked")
    assert method == "textDocument/definition"
    assert params["position"] == {"line": 1, "character": sent}
    assert toy.eval("bufloaded('made.txt')") == 0


def test_references_are_all_told(toy: Neovim, workspace: Path) -> None:
    answers = [location(workspace / "made.txt", 0, 4, 8), location(workspace / "use.txt", 1, 4, 8)]
    toy.lua(START, "utf-16", {"textDocument/references": answers})
    found = find(toy, "references", workspace / "use.txt", 2, 5)
    assert [Path(item["path"]).name for item in found] == ["made.txt", "use.txt"]


def test_links_point_at_their_target(toy: Neovim, workspace: Path) -> None:
    plain = location(workspace / "made.txt", 0, 4, 8)
    link = {"targetUri": plain["uri"], "targetSelectionRange": plain["range"]}
    toy.lua(START, "utf-16", {"textDocument/definition": [link]})
    (found,) = find(toy, "definition", workspace / "use.txt", 2, 5)
    assert found["start_column"] == 5


def test_no_answer_is_an_empty_list(toy: Neovim, workspace: Path) -> None:
    toy.lua(START, "utf-16", {})
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    toy.wait_until("#vim.lsp.get_clients({ name = 'toy' }) == 1")
    found = toy.wait_for(
        lambda: (
            toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1),
            toy.lua("return vim.islist((package.loaded.found or {}).found)"),
        )[1],
        "an empty answer",
    )
    assert found


FOUND = "return package.loaded.found.found"
LATER = "local now = vim.uv.now vim.uv.now = function() return now() + 4000 end"


def test_a_server_is_waited_for_only_a_moment(toy: Neovim, workspace: Path) -> None:
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    assert toy.lua(FOUND) == "starting"
    toy.lua(LATER)
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    assert toy.lua(FOUND) == "no-server"


def test_a_file_that_is_open_has_its_server_already(toy: Neovim, workspace: Path) -> None:
    toy.command(f"edit {workspace / 'use.txt'}")
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    assert toy.lua(FOUND) == "no-server"


def test_a_server_that_initializes_is_starting(toy: Neovim, workspace: Path) -> None:
    toy.lua("""
        local serve = package.loaded.serve
        package.loaded.serve = function(...)
          local start = serve(...)
          return function(dispatchers)
            local server = start(dispatchers)
            local request = server.request
            server.request = function(method, params, callback)
              return method == 'initialize' or request(method, params, callback), 1
            end
            return server
          end
        end""")
    toy.lua(START, "utf-16", {})
    toy.lua(LATER)
    toy.command(f"edit {workspace / 'use.txt'} | setfiletype text")
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    assert toy.lua(FOUND) == "starting"


def test_files_are_loaded_without_a_window(toy: Neovim, workspace: Path) -> None:
    toy.lua(FIND, "definition", str(workspace / "use.txt"), 1, 1)
    assert toy.eval("winnr('$')") == 1
    assert toy.eval("bufloaded('use.txt')") == 1
    assert toy.eval("buflisted('use.txt')") == 0


def test_of_the_files_that_were_loaded_for_it_the_last_ones_stay(
    toy: Neovim, workspace: Path
) -> None:
    toy.command("set hidden")
    names = [f"file{number}.txt" for number in range(26)]
    for name in names:
        (workspace / name).write_text("text\n")
    toy.command("edit file25.txt")
    for number, name in enumerate(names[:25]):
        toy.lua(FIND, "definition", str(workspace / name), 1, 1)
        if number == 1:
            toy.command("call setbufline('file1.txt', 1, 'changed')")
        elif number == 2:
            toy.command("edit file2.txt | buffer file25.txt")
        elif number == 3:
            toy.command("split | buffer file3.txt | wincmd p")
        toy.lua(FIND, "definition", str(workspace / "file0.txt"), 1, 1)
    known = [name for name in names if toy.eval(f"bufexists('{name}')")]
    assert known == [names[0], *names[1:4], *names[6:]]
