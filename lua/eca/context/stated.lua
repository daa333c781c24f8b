--- What a text of a stranger would send: its contexts, one a line, for the user to see first.
---
--- Rules kept here:
--- - The contexts are those of the tokens that the input finds; what is listed here is sent, with
---   their real paths.
--- - What leads out of the workspace is a warning: a file or folder there, and any buffer, terminal
---   or chat, whose text may come from anywhere.
local host = require('eca.host')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local texts = require('eca.context.texts')
local tokens = require('eca.context.tokens')

local M = {}

---@class eca.SentContexts
---@field contexts eca.Context[]
---@field rows eca.Segment[][] for a float; none if nothing is sent
---@field leads_out boolean

local FROM_ANYWHERE = { buffer = true, terminal = true, chat = true }

--- What a text would send.
---@param text string
---@return eca.SentContexts
function M.of(text)
  ---@type eca.SentContexts
  local sent = { contexts = {}, rows = {}, leads_out = false }
  for _, token in ipairs(tokens.find(text)) do
    local item = token.context
    local is_outside = item.path ~= nil and not paths.inside(item.path, host.folders())
    local is_out = FROM_ANYWHERE[item.type] or is_outside
    local shown = item.token .. (is_outside and ', outside of the workspace: ' .. item.path or '')
    if item.type == 'buffer' then
      shown = ('%s, the buffer %s'):format(item.token, texts.name(item.buf))
    end
    sent.contexts[#sent.contexts + 1] = item
    sent.rows[1] = sent.rows[1] or { { 'It sends these along:', '' } }
    local line = (is_out and '! ' or '  ') .. sanitize.line(shown)
    sent.rows[#sent.rows + 1] = { { line, is_out and 'EcaWarning' or '' } }
    sent.leads_out = sent.leads_out or is_out
  end
  if sent.rows[1] then
    sent.rows[#sent.rows + 1] = {} -- an empty line before the text itself
  end
  return sent
end

return M
