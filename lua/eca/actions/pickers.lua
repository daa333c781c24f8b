--- Actions that choose from a list: model, agent, variant, trust, and all actions.
local M = {}

--- Send a choice for the chat the user means; without a value, ask for one.
---@param what 'model'|'agent'|'variant'
---@param value? string
function M.choose(what, value)
  local chat = require('eca').current()
  if value and value ~= '' then
    require('eca.host').send('choose', { chat = chat, what = what, value = value })
    return
  end
  local offered = require('eca.mirror').choices()[what .. 's'] or {}
  if #offered == 0 then
    require('eca.notify').info(('there is no %s to choose yet'):format(what))
    return
  end
  vim.ui.select(offered, { prompt = 'Choose the ' .. what }, function(choice)
    if choice then
      M.choose(what, choice)
    end
  end)
end

--- Choose the model.
function M.model()
  M.choose('model')
end

--- Choose the agent.
function M.agent()
  M.choose('agent')
end

--- Choose the variant of the model.
function M.variant()
  M.choose('variant')
end

--- Let the chat work without asking, or no longer.
function M.trust()
  local chat = require('eca').current()
  local trusted = require('eca.mirror').status(chat).trust
  require('eca.host').send('choose', { chat = chat, what = 'trust', value = not trusted })
end

--- Choose one of all actions and do it where the cursor is.
function M.palette()
  local keys = require('eca.keys')
  local names = vim.tbl_keys(keys.actions)
  table.sort(names)
  local options = {
    prompt = 'eca',
    format_item = function(name)
      return ('%-18s %s'):format(name, keys.actions[name].text)
    end,
  }
  vim.ui.select(names, options, function(name)
    if name then
      keys.run(name)
    end
  end)
end

return M
