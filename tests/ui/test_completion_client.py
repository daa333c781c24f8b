"""The language client of the input: asked as plugins ask, and harmless to others."""

from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.completed import GREET, answer, item, menu, start
from tests.ui.staged import CHAT, WITHOUT_HOST, sent

ASK = """
local line, character, kind = ...
_G.answer = nil
local client = vim.lsp.get_clients({ bufnr = 0, name = 'eca' })[1]
local params = {
  textDocument = { uri = vim.uri_from_bufnr(0) },
  position = { line = line, character = character },
  context = { triggerKind = kind, triggerCharacter = kind == 2 and '@' or nil },
}
local function take(fault, result)
  _G.answer = fault or result
end
if vim.fn.has('nvim-0.11') == 1 then
  client:request('textDocument/completion', params, take, 0)
else
  client.request('textDocument/completion', params, take, 0)
end
return _G.answer == nil
"""


def ask(nvim: Neovim, line: int, character: int, kind: int = 2) -> None:
    """Ask the client as nvim-cmp does; the answer comes later, in `_G.answer`."""
    assert nvim.lua(ASK, line, character, kind)


def answered(nvim: Neovim) -> Value:
    nvim.wait_until("_G.answer ~= nil")
    return nvim.lua("return _G.answer")


def test_it_answers_as_a_language_server(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, settings={"completion": {"auto": False}})
    nvim.lua("require('eca.completion.client').PATIENCE = 60000")
    nvim.keys("😀 @c")
    assert menu(nvim) == []
    assert sent(nvim, "complete") == []
    ask(nvim, 0, 5)
    (query,) = sent(nvim, "complete")
    assert (query["trigger"], query["query"]) == ("@", "c")
    answer(nvim, "@", "c", item("src/calc.py"), item("😀/", detail="a folder"))
    found = answered(nvim)
    assert found["isIncomplete"] is True
    first, second = found["items"]
    place = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}}
    assert first["textEdit"] == {"range": place, "newText": "src/calc.py"}
    assert [it["label"] for it in (first, second)] == ["src/calc.py", "😀/"]
    assert [it["kind"] for it in (first, second)] == [17, 19]
    assert first["sortText"] < second["sortText"]
    assert second["detail"] == second["documentation"]["value"] == "a folder"
    ask(nvim, 0, 5, kind=3)
    assert len(answered(nvim)["items"]) == 2
    ask(nvim, 0, 2)
    assert answered(nvim) == {"isIncomplete": False, "items": []}
    everyone = nvim.lua("""
        local params = vim.lsp.util.make_position_params(0, 'utf-16')
        local found = vim.lsp.buf_request_sync(0, 'textDocument/completion', params, 5000)
        return vim.tbl_values(found)""")
    assert [len(it["result"]["items"]) for it in everyone] == [2]
    nvim.keys("<BS>s")
    answer(nvim, "@", "s", item("src/calc.py"))
    nvim.keys("<C-x><C-o>")
    nvim.wait_screen("src/calc.py")
    nvim.keys("<C-e><Esc>cc/")
    ask(nvim, 0, 1)
    answer(nvim, "/", "", GREET)
    (greet,) = answered(nvim)["items"]
    assert greet["kind"] == 14  # plugins put brackets after a function
    assert "who (required): Whom to greet" in greet["documentation"]["value"]
    nvim.keys("mock:greet")
    nvim.lua(
        """
        local command = ...
        vim.schedule(function()
          local client = vim.lsp.get_clients({ bufnr = 0, name = 'eca' })[1]
          client.rpc.request('workspace/executeCommand', command, function() end)
        end)""",
        greet["command"],
    )
    nvim.wait_screen("who (Whom to greet):")
    nvim.keys("me<CR>you<CR>")
    nvim.wait_until("vim.api.nvim_get_current_line() == '/mock:greet me you'")
    assert any("the option 'completion.auto' is false" in line for line in health(nvim))


def health(nvim: Neovim) -> list[str]:
    nvim.keys("<Esc>")
    nvim.command("checkhealth eca")
    return nvim.buffer_lines()


USER = """
vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(args)
    local client = assert(vim.lsp.get_client_by_id(args.data.client_id))
    _G.attached = (_G.attached or 0) + 1
    for _, key in ipairs({ 'K', 'gd', 'ga', '<CR>' }) do
      vim.keymap.set('n', key, vim.lsp.buf.hover, { buffer = args.buf })
    end
    vim.lsp.inlay_hint.enable(true, { bufnr = args.buf })
    vim.lsp.codelens.refresh({ bufnr = args.buf })
    vim.lsp.semantic_tokens.force_refresh(args.buf)
    if client.server_capabilities.documentFormattingProvider then
      error('it formats nothing')
    end
  end,
})
"""


def test_it_harms_nothing(start_nvim: StartNeovim, workspace: Path) -> None:
    (workspace / "code.txt").write_text("one\n")
    nvim = start(start_nvim, "code.txt", init=USER)
    assert nvim.lua("return _G.attached") == 1
    nvim.keys("hello<Esc>")
    assert nvim.lua("return { vim.bo.tagfunc, vim.bo.formatexpr }") == ["", ""]
    assert "EcaPalette" in nvim.eval("maparg('ga', 'n')")
    nvim.keys("K")  # the user's: Neovim says that no server supports it
    nvim.keys("<CR>")
    nvim.take_errors()
    for method in ("textDocument/hover", "textDocument/formatting", "workspace/symbol"):
        nvim.lua(
            """
            _G.answer = nil
            local client = vim.lsp.get_clients({ name = 'eca' })[1]
            client.rpc.request(..., {}, function(fault) _G.answer = fault end)""",
            method,
        )
        assert answered(nvim)["code"] == -32601
    assert nvim.lua("return vim.diagnostic.get(0)") == []
    found = nvim.lua("""
        local path = vim.fn.getcwd() .. '/code.txt'
        _G.answer = nil
        require('eca.editor.lookups').locations('definition', path, 1, 1, function(found)
          _G.answer = found
        end)
        return _G.answer""")
    assert found == "no-server"
    nvim.keys("<CR>")
    assert [it["text"] for it in sent(nvim, "prompt")] == ["hello"]
    nvim.command("checkhealth vim.lsp")
    nvim.command("tabclose" if nvim.eval("tabpagenr('$')") > 1 else "close")
    nvim.lua("vim.lsp.stop_client(vim.lsp.get_clients())")
    nvim.wait_until("#vim.lsp.get_clients() == 0")
    nvim.keys("i@")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) == 1")
    answer(nvim, "@", "", item("README.md"))
    assert menu(nvim)[-1] == "README.md"
    nvim.keys("<Esc>cc@<Esc>")
    nvim.command("edit!")
    nvim.keys("i@")
    assert menu(nvim)[-1] == "README.md"
    nvim.keys("<Esc>")


def test_one_serves_all_inputs(start_nvim: StartNeovim) -> None:
    """Each other one would stay, with a namespace, until Neovim ends."""
    nvim = start(start_nvim)
    nvim.keys("<Esc>")
    nvim.lua("require('eca').open({ chat = 'another' })")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0, name = 'eca' }) == 1")
    assert nvim.lua("return #vim.lsp.get_clients({ name = 'eca' })") == 1


def test_it_can_be_turned_off(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"completion": False})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("i@")
    assert sent(nvim, "complete") == []
    assert nvim.lua("return #vim.lsp.get_clients()") == 0


def test_only_one_menu_opens(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    off = {
        "cmp": "package.loaded['cmp'] = nil",
        "blink": "package.loaded['blink.cmp'] = nil",
        "mini": "_G.MiniCompletion = nil",
    }
    on = {
        "cmp": """
            package.loaded['cmp'] = {}
            package.loaded['cmp.config'] = {
              enabled = function() return true end,
              get = function() return { sources = { { name = 'nvim_lsp' } } } end,
            }""",
        "blink": """
            package.loaded['blink.cmp'] = {}
            package.loaded['blink.cmp.config'] = { enabled = function() return true end }""",
        "mini": "_G.MiniCompletion = {}",
    }
    nvim.keys("@")
    answer(nvim, "@", "", item("README.md"))
    assert menu(nvim) == ["README.md"]
    for name, code in on.items():
        nvim.lua(code)
        nvim.keys("<Esc>cc@")
        assert menu(nvim) == [], name
        nvim.lua(off[name])
        nvim.keys("<Esc>cc@")
        assert menu(nvim) == ["README.md"], name
    nvim.lua("""
        package.loaded['cmp'] = {}
        package.loaded['cmp.config'] = { enabled = function() error('broken') end }""")
    nvim.keys("<Esc>cc@")
    assert menu(nvim) == ["README.md"]
    assert any("Vim's own menu opens in the input" in line for line in health(nvim))


def test_the_host_may_make_the_folder_of_the_log_first(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("""
    local make, log = vim.fn.mkdir, vim.fn.stdpath('log')
    vim.fn.delete(log, 'rf')
    vim.fn.mkdir = function(path, ...)
      local is_there = vim.fn.isdirectory(path) == 1
      make(path, ...)
      if not is_there then
        error('E739: Cannot create directory')
      end
    end
    package.loaded['vim.lsp.log'] = nil
    require('eca.completion.client').attach(vim.api.nvim_create_buf(false, true))
    """)
    assert nvim.messages() == ""


def test_a_plugin_sees_what_was_typed_before_it_is_sent(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, init=WITHOUT_HOST)
    nvim.lua("""
        _G.MiniCompletion, _G.seen = {}, {}
        vim.api.nvim_create_autocmd('TextChangedI', { callback = function()
          table.insert(_G.seen, vim.api.nvim_get_current_line())
          assert(_G.seen[#_G.seen] == '', 'of a plugin')
        end })""")
    nvim.keys("<Esc>ihello<C-s>")
    assert [it["text"] for it in sent(nvim, "prompt")] == ["hello"]
    nvim.wait_until("#_G.seen > 1")
    assert nvim.lua("return _G.seen") == ["hello", ""]


def test_it_is_loaded_in_one_step_and_attached_in_another(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    after = nvim.lua("""
        _G.buf = vim.api.nvim_create_buf(false, true)
        require('eca.completion').attach(_G.buf)
        return { package.loaded['vim.lsp'] ~= nil, #vim.lsp.get_clients({ bufnr = _G.buf }) }""")
    assert after == [True, 0]
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = _G.buf, name = 'eca' }) == 1")
