--- Draws frames, which are lists of view ops, in order, and acknowledges those of the host.
---
--- Rules kept here:
--- - A frame is acknowledged when all of it is drawn, with the time that took. The host sends the
---   next frame only then, so frames do not pile up here. CPU time is measured: if other programs
---   use the processor, smaller frames would only cost more.
--- - If Neovim forbids changes (in an expression mapping, the command-line window …), the rest is
---   drawn when Neovim is idle next. Nothing is lost, and the order stays.
--- - An op that fails is a bug of ours: it is reported once, and the others are drawn. Blocks that
---   are written by one edit fail together.
--- - While Neovim exits nothing is drawn: its buffers are unloaded, but plugins that wait on
---   `VimLeavePre`, as its language clients do, still let frames in.
local comfort = require('eca.host.comfort')
local host = require('eca.host')
local view_ops = require('eca.view.ops')

local M = {}

---@class eca.Frame
---@field number? integer nil: our own, which nobody waits for
---@field ops eca.Op[]
---@field next integer place of the next op to draw
---@field spent number seconds of CPU time spent on drawing so far

local waiting = {} ---@type eca.Frame[]
local complained = false

---@param name string of what was being drawn
---@param message string
local function complain(name, message)
  require('eca.host.log').write(('cannot draw %s: %s'):format(name, message))
  if not complained then
    complained = true
    local first = vim.split(message, '\n')[1]
    require('eca.ui.notify').error(('cannot draw %s: %s'):format(name, first))
  end
end

---@param frame eca.Frame
---@return boolean drawn all of it
local function draw(frame)
  local started, ops = os.clock(), frame.ops
  while frame.next <= #ops do
    local worked, result = pcall(view_ops.draw, ops, frame.next)
    if worked then
      frame.next = result
    elseif comfort.means_later(tostring(result)) then
      break
    else
      complain(ops[frame.next].op, tostring(result))
      frame.next = frame.next + view_ops.count_together(ops, frame.next)
    end
  end
  local settled, fault = pcall(view_ops.settle)
  local is_later = not settled and comfort.means_later(tostring(fault))
  if not settled and not is_later then
    complain('the windows', tostring(fault))
  end
  frame.spent = frame.spent + (os.clock() - started)
  return frame.next > #ops and not is_later
end

--- Draw the waiting frames, as far as Neovim allows.
local function continue()
  local frame = waiting[1]
  while frame and draw(frame) do
    if waiting[1] == frame then -- else an event has run what discarded it
      table.remove(waiting, 1)
      if frame.number then
        host.send('drawn', { frame = frame.number, ms = frame.spent * 1e3 })
      end
    end
    frame = waiting[1]
  end
  if waiting[1] then
    -- What is drawn may open and close windows, which no autocommand may.
    local later = vim.schedule_wrap(continue)
    vim.api.nvim_create_autocmd('SafeState', {
      callback = function()
        local is_over = vim.fn.getcmdwintype() == '' -- Neovim is idle in that window, too
        if is_over then
          later()
        end
        return is_over
      end,
    })
  end
end

--- Draw ops after all that wait; also while others are being drawn.
---@param number? integer of the host's frame
---@param ops eca.Op[]
function M.apply(number, ops)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  waiting[#waiting + 1] = { number = number, ops = ops, next = 1, spent = 0 }
  if #waiting == 1 then
    continue()
  end
end

--- Draw a frame. Called by the host.
---@param number integer
---@param packed string its ops as MessagePack
function M.receive(number, packed)
  host.alive()
  M.apply(number, vim.mpack.decode(packed))
end

--- Called when the host is gone: discards its frames.
function M.forget()
  waiting = {}
end

return M
