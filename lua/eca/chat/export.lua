--- Exports the chat as Markdown, into a buffer or a file.
---
--- Rules kept here: an existing file is overwritten only if the user says so.
local M = {}

---@param lines string[]
local function show(lines)
  require('eca.window.to_code').enter()
  vim.cmd.new()
  vim.bo.modifiable = true -- it is not in `nvim -M`
  vim.bo.bufhidden, vim.bo.swapfile, vim.bo.modeline = 'wipe', false, false
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.filetype, vim.bo.modified = 'markdown', false
end

---@param lines string[]
---@param path string
local function write(lines, path)
  local written, fault = pcall(require('eca.files').write, path, lines)
  if written then
    require('eca.ui.notify').info(('%d lines written to %s'):format(#lines, path))
  else
    require('eca.ui.notify').warn((tostring(fault):gsub('^.-E%d+: ', '')))
  end
end

--- Export the current chat.
---@param file? string default: a buffer
---@param overwrite? boolean
function M.run(file, overwrite)
  local path = file and vim.fs.normalize(vim.fn.fnamemodify(vim.fs.normalize(file), ':p'))
  if path and vim.uv.fs_stat(path) and not overwrite then
    require('eca.ui.notify').warn(
      ('%s already exists; :Eca export! … overwrites it'):format(file)
    )
    return
  end
  local chat = require('eca.window').current_chat() or require('eca.chat.buffers').new()
  require('eca.host.requests').transcript(chat, function(markdown)
    local lines = vim.split((markdown:gsub('\n$', '')), '\n', { plain = true })
    if path then
      write(lines, path)
    else
      show(lines)
    end
  end)
end

return M
