"""Symbols of language servers after `@symbol:`; the servers are in this Neovim."""

from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.completed import menu, open_input, text
from tests.ui.staged import WITHOUT_HOST

SERVE = """
package.loaded.asked, package.loaded.cancelled = {}, {}
package.loaded.serve = function(answers, wait)
  return function(dispatchers)
    local closing, count = false, 0
    return {
      request = function(method, params, callback)
        count = count + 1
        local id = count
        if method == 'initialize' then
          callback(nil, { capabilities = {
            workspaceSymbolProvider = true, documentSymbolProvider = true } })
        elseif method == 'shutdown' then
          callback(nil, nil)
        else
          table.insert(package.loaded.asked, { method, params.query or params.textDocument.uri })
          if wait ~= 'never' then
            vim.schedule(function() callback(nil, answers[method]) end)
          end
        end
        return true, id
      end,
      notify = function(method, params)
        if method == '$/cancelRequest' then
          table.insert(package.loaded.cancelled, params.id)
        elseif method == 'exit' then
          dispatchers.on_exit(0, 0)
        end
        return true
      end,
      is_closing = function() return closing end,
      terminate = function() closing = true end,
    }
  end
end
"""
START = """
local name, answers, wait = ...
vim.lsp.start({ name = name, cmd = package.loaded.serve(answers, wait), root_dir = '/' },
  { bufnr = vim.fn.bufnr('calc.py') })
"""


def span(first: int, last: int) -> Value:
    return {"start": {"line": first, "character": 4}, "end": {"line": last, "character": 9}}


def found(path: Path, name: str, line: int, last: int | None = None, **more: Value) -> Value:
    place = {"uri": path.as_uri(), "range": span(line, line if last is None else last)}
    return {"name": name, "kind": 12, "location": place, **more}


@pytest.mark.either_nvim
def test_a_symbol_is_found_by_its_name_and_sent_as_its_lines(
    start_nvim: StartNeovim, workspace: Path
) -> None:
    calc = workspace / "src/calc.py"
    whole = {"name": "sub", "range": span(4, 5), "selectionRange": span(4, 4), "children": []}
    answers: Value = {
        "workspace/symbol": [
            found(calc, "sub", 4),
            found(calc, "sub\n%#E#\x1b", 0, 1, containerName="Sum"),
            found(Path("/etc/passwd"), "subtle", 1),
            {"name": "odd", "kind": 999, "location": {}},
            {"name": "su", "location": {"uri": (workspace / "README.md").as_uri()}},
            7,
        ],
        "textDocument/documentSymbol": [whole],
    }
    nvim = start_nvim("src/calc.py", init=WITHOUT_HOST + SERVE, columns=80)
    open_input(nvim)
    nvim.keys("@sym")
    assert menu(nvim) == [], "no server can be asked"
    nvim.keys("<Esc>cc")
    nvim.lua(START, "toy", answers)
    nvim.lua(START, "mute", {}, "never")
    nvim.keys("<Esc>i")
    nvim.keys("see @symb")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    assert menu(nvim) == ["symbol:"]
    nvim.keys("<C-n><C-y>")
    assert text(nvim) == "see @symbol:"
    nvim.lua("require('eca.completion.symbols').PATIENCE = 100")
    nvim.keys("s")
    nvim.keys("u")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    assert menu(nvim) == ["README.md", "src/calc.py:5-6", "src/calc.py:1-2"]
    screen = nvim.wait_screen("src/calc.py:5-6 ·")
    assert "Sum · sub" in screen
    asked = nvim.lua("return package.loaded.asked")
    assert [query for method, query in asked if method == "workspace/symbol"][-1] == "su"
    nvim.wait_until("#package.loaded.cancelled > 1")
    nvim.keys("<C-n><C-n><C-y>")
    assert text(nvim) == "see @src/calc.py:5-6"
    nvim.keys(" @symbol:none<Esc>")
    nvim.wait_screen("@symbol:none ✗")
