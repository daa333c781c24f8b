--- Actions that take code out of an answer: into a file, as a preview, or to a terminal.
---
--- Rules kept here:
--- - What is put is what the transcript shows. Nothing is changed before the user accepts it there.
--- - Names of files come from a model: they are data. A file outside of the workspace, a new one,
---   and one that programs obey is asked about before anything is opened.
--- - Nothing is run: a command goes to the prompt line of a terminal, without the key that runs it,
---   and one line at a time.
local choose = require('eca.ui.choose')
local files = require('eca.files')
local fences = require('eca.markdown.fences')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local preview = require('eca.preview')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local to_code = require('eca.window.to_code')

local M = {}

---@class eca.Code a code block of an answer
---@field lines string[]
---@field language string
---@field info string what stands behind its fence
---@field above string the line above it

local TERMINAL_ROWS = 12
local SHELLS = { bash = true, console = true, fish = true, sh = true, shell = true, zsh = true }

--- The code block around a row.
---@param buf integer
---@param row integer
---@return eca.Code?
local function code_at(buf, row)
  local found = fences.at(buf, row)
  if not found or found.fence.bare then
    return notify.info('no code block under the cursor')
  elseif not found.fence.closed then
    return notify.info('the code block is not complete yet')
  end
  local first = found.first
  local above = vim.api.nvim_buf_get_lines(buf, math.max(first - 2, 0), first, false)
  local opener = vim.api.nvim_buf_get_lines(buf, first, first + 1, false)[1]
  return {
    lines = vim.api.nvim_buf_get_lines(buf, first + 1, found.last - 1, false),
    language = found.fence.language,
    info = opener:gsub('^%s*[`~]+', ''),
    above = above[#above] ~= '' and above[#above] or above[1] or '',
  }
end

-- Which file ------------------------------------------------------------------------------------

--- Words of a text that look like the path of a file.
---@param text string
---@return string[]
local function paths_in(text)
  local found = {} ---@type string[]
  local words = {} ---@type string[]
  for word in text:gmatch('%S+') do
    words[#words + 1] = not word:find('://', 1, true) and word or nil
  end
  for word in table.concat(words, ' '):gmatch('[^%s"\'`=:*(){}%[%],;<>|]+') do
    local name = vim.fs.basename(word)
    if name ~= '' and not vim.endswith(word, '/') and not word:find('^~[^/]') then
      local has_type = name:find('^.+%.%a[%w_-]*$') ~= nil
      found[#found + 1] = (has_type or word:find('/', 1, true)) and word or nil
    end
  end
  return found
end

---@class eca.NamedFile
---@field path string absolute
---@field is_new boolean

---@param name string
---@return eca.NamedFile
local function resolved(name)
  if vim.startswith(name, '~/') then -- as people and shells read it, and as it is shown
    name = vim.fs.joinpath(assert(vim.uv.os_homedir()), name:sub(3))
  end
  local folders = vim.startswith(name, '/') and { '' } or host.folders()
  for _, folder in ipairs(folders) do
    local path = folder == '' and name or vim.fs.joinpath(folder, name)
    if vim.uv.fs_stat(path) then
      return { path = path, is_new = false }
    end
  end
  local first = folders[1] or vim.fn.getcwd()
  return { path = first == '' and name or vim.fs.joinpath(first, name), is_new = true }
end

--- The file that a code block is for, if it or the line above it names just one.
---@param code eca.Code
---@return eca.NamedFile?
local function file_of(code)
  for _, text in ipairs({ code.info, code.above }) do
    local named = paths_in(text)
    local file = #named == 1 and resolved(named[1]) or nil
    -- A word with a dot may be anything: a new file has a folder, too, or stands in marks of code.
    local is_sure = file and (not file.is_new or named[1]:find('/', 1, true))
    if file and (is_sure or text:find('`' .. named[1] .. '`', 1, true)) then
      return file
    end
  end
end

--- Ask before a file is opened that is new, outside of the workspace, or obeyed by programs.
---@param file eca.NamedFile
---@param go_on fun()
local function ask_about(file, go_on)
  host.ask('path_risks', { path = file.path }, function(risks)
    local told = table.concat({ paths.short(file.path), unpack(risks or {}) }, ', ')
    if risks and file.is_new then
      choose.sure('Create', 'New file ' .. told, go_on)
    elseif risks and #risks > 0 then
      choose.sure('Go on', 'The code is for ' .. told, go_on)
    elseif risks then
      go_on()
    end
  end)
end

---@param code eca.Code
---@param file eca.NamedFile
local function put_into(code, file)
  ask_about(file, function()
    to_code.enter()
    local fault = files.show(file.path, file.is_new)
    if fault then
      return notify.warn(fault)
    end
    local buf = vim.api.nvim_get_current_buf()
    local last = vim.api.nvim_buf_line_count(buf)
    local put = { buf = buf, first = 1, last = last, lines = code.lines }
    put.as_diff = not file.is_new
    preview.put(put)
  end)
end

--- Put code into lines of a buffer, else over what was selected in the last code window, else below
--- its cursor.
---@param code eca.Code
---@param lines? eca.PutPlace
local function put_here(code, lines)
  local place, selected = lines or places.last(), not lines and places.selection() or nil
  if not place then
    return notify.info('no code window to put it into')
  end
  to_code.enter()
  if vim.api.nvim_get_current_buf() ~= place.buf then
    pcall(others.show, 0, place.buf)
    if vim.api.nvim_get_current_buf() ~= place.buf then -- 'nohidden': Neovim 0.12 raises nothing
      return notify.warn('not put: the code window has an unsaved file: write it first')
    end
  end
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local put = { buf = place.buf, first = row, last = row, lines = code.lines, below = true }
  if selected then
    put.first, put.last, put.below = selected.first[1], selected.last[1], false
  elseif lines then
    put.first, put.last, put.below = lines.first, lines.last, lines.below
  end
  preview.put(put)
end

-- Commands --------------------------------------------------------------------------------------

--- The commands of a code block, without prompts and comments, each on one line.
---@param lines string[]
---@return string[]
local function commands_of(lines)
  local joined = {} ---@type string[]
  local goes_on = false
  for _, line in ipairs(lines) do
    local text = scan.trim((line:gsub('%c', ' '):gsub('^%s*%$ ', '')))
    local more = text:sub(-1) == '\\'
    text = more and scan.trim(text:sub(1, -2)) or text
    if goes_on then
      joined[#joined] = joined[#joined] .. ' ' .. text
    elseif text ~= '' and text:sub(1, 1) ~= '#' then
      joined[#joined + 1] = text
    else
      more = false
    end
    goes_on = more
  end
  return joined
end

--- A terminal of the user in this tab page, else a hidden one.
---@return integer? buf, integer? win
local function terminal()
  local latest ---@type integer?
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local runs = vim.bo[buf].buftype == 'terminal' and vim.bo[buf].channel > 0
    if runs and not vim.startswith(vim.bo[buf].filetype, 'eca-') then
      local win = vim.fn.win_findbuf(buf)[1]
      if win and vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
        return buf, win
      end
      latest = buf
    end
  end
  return latest
end

--- Write a command to the prompt line of a terminal, and go there.
---@param command string
local function type_command(command)
  local buf, win = terminal()
  to_code.uncover()
  if win then
    others.go_to(win)
  else
    local shown = buf or others.create_buf()
    others.split(shown, { split = 'below', win = -1, height = TERMINAL_ROWS })
  end
  local function send()
    if vim.api.nvim_buf_is_loaded(buf) then
      vim.api.nvim_chan_send(vim.bo[buf].channel, command)
    end
  end
  if buf then
    send()
  else
    others.call('TermOpen', vim.cmd.terminal) -- the user's own shell
    buf = vim.api.nvim_get_current_buf()
    vim.api.nvim_buf_attach(buf, false, {
      on_lines = function()
        local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
        if not table.concat(lines):find('%S') then
          return nil
        end
        vim.schedule(send) -- its prompt is there
        return true
      end,
    })
  end
  vim.cmd.startinsert()
  notify.info('at the prompt of the terminal: <CR> runs it')
end

---@param code eca.Code
local function put_command(code)
  local commands = commands_of(code.lines)
  if #commands == 0 then
    notify.info('no command in this code block')
  elseif #commands == 1 then
    type_command(commands[1])
  else
    local all = table.concat(commands, ' && ')
    choose.one('Which command?', { all, unpack(commands) }, function(command)
      return sanitize.line(command)
    end, type_command)
  end
end

---@class eca.PutPlace lines for code that names no file
---@field buf integer
---@field first integer 1-based
---@field last integer
---@field below boolean below them: they stay

--- Put a code block where it belongs: a command to a terminal, code into the file that it names,
--- other code where the user was.
---@param buf integer with the block
---@param row integer a row of it
---@param lines? eca.PutPlace for other code
function M.block(buf, row, lines)
  local code = code_at(buf, row)
  if not code then
    return
  elseif #code.lines == 0 then
    return notify.info('the code block is empty')
  elseif SHELLS[code.language] then
    return put_command(code)
  end
  local file = file_of(code)
  if file then
    put_into(code, file)
  else
    put_here(code, lines)
  end
end

--- Put the code block under the cursor where it belongs.
function M.code()
  M.block(vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1)
end

return M
