--- Images inside the chat, if a plugin can show them in this terminal.
---
--- Rules kept here:
--- - The plugin is snacks.nvim, if the user has set it up: it draws with virtual lines, which move
---   with their row. Without it an image is a line that opens the file.
--- - The host is asked for the file only if it can be shown.
local host = require('eca.host')
local transcript = require('eca.transcript')

local M = {}

local WIDEST, HIGHEST = 80, 20

---@class eca.Placement of snacks.nvim
---@field opts { pos: [integer, integer] }
---@field close fun(self: eca.Placement)

local placements = {} ---@type table<integer, table<integer, eca.Placement>> by buffer and block

--- The image module of snacks.nvim.
---@return table?
local function snacks()
  local loaded = rawget(_G, 'Snacks')
  local image = loaded and loaded.image
  return image and image.config.enabled and image or nil
end

--- Call `go_on` if the terminal can show images within text.
---@param image table
---@param go_on fun()
local function when_possible(image, go_on)
  local function check()
    if image.supports_terminal() and image.terminal.env().placeholders then
      go_on()
    end
  end
  if image.terminal.detect then
    image.terminal.detect(vim.schedule_wrap(check))
  else
    check()
  end
end

---@param buf integer
---@param block integer
---@return [integer, integer]? position (1,0)-based
local function position(buf, block)
  local row = transcript.range(buf, block)
  return row and { row + 1, 0 } or nil
end

---@param buf integer
---@param block integer
---@param path string
local function place(buf, block, path)
  local image, pos = snacks(), position(buf, block)
  if not image or not pos then
    return
  end
  M.removed(buf, block)
  if not placements[buf] then
    placements[buf] = {}
    vim.api.nvim_create_autocmd('BufUnload', {
      buffer = buf,
      once = true,
      callback = function()
        M.removed(buf)
        placements[buf] = nil
      end,
    })
  end
  placements[buf][block] = image.placement.new(buf, path, {
    pos = pos,
    inline = true,
    auto_resize = true,
    max_width = WIDEST,
    max_height = HIGHEST,
    on_update_pre = function(placement) -- text above it may have changed
      placement.opts.pos = position(buf, block) or placement.opts.pos
    end,
  })
end

--- Called when an image's block was drawn.
---@param chat string
---@param buf integer
---@param block integer
function M.drawn(chat, buf, block)
  local image = snacks()
  if not image then
    return
  end
  when_possible(image, function()
    host.ask('image', { chat = chat, block = block }, function(path)
      if path then
        place(buf, block, path)
      end
    end)
  end)
end

--- Called when a block, or all blocks, were removed.
---@param buf integer
---@param block? integer
function M.removed(buf, block)
  local found = placements[buf] or {}
  for id, placement in pairs(found) do
    if block == nil or id == block then
      found[id] = nil
      placement:close()
    end
  end
end

return M
