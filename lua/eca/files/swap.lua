--- Loads files also where Neovim can make no swap file: it would stop at "Press ENTER" (E303), and
--- not only in a key of the user.
---
--- Rules kept here: a folder counts only if a file can be made in it, because permissions do not
--- tell all. A buffer that is loaded already keeps its option.
local M = {}

---@param folder string of 'directory'
---@return boolean
local function is_usable(folder)
  if vim.startswith(folder, '.') then -- beside the file
    return true
  end
  pcall(vim.fn.mkdir, folder, 'p') -- as Neovim would
  local file, path = vim.uv.fs_mkstemp(vim.fs.joinpath(folder, 'eca-XXXXXX'))
  if not file then
    return false
  end
  vim.uv.fs_close(file)
  vim.uv.fs_unlink(path)
  return true
end

--- Turn the swap file of a buffer off that is about to be loaded, if none can be made.
---@param buf integer
function M.prepare(buf)
  if vim.api.nvim_buf_is_loaded(buf) or not vim.bo[buf].swapfile then
    return
  end
  vim.bo[buf].swapfile = vim.iter(vim.opt.directory:get()):any(is_usable)
end

return M
