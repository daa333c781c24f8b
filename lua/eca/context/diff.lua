--- What git's diff shows, read by the host in the background.
local requests = require('eca.host.requests')

local M = {}

--- The context for the diff of the repository that the working folder is in. The host reads it when
--- the prompt goes to the agent.
---@param item eca.Context
---@return eca.Context
function M.described(item)
  return vim.tbl_extend('keep', item, { folder = vim.fn.getcwd() })
end

--- Read the diff.
---@param done fun(read?: eca.ReadText, fault?: string) fault: why there is nothing, in one line
function M.read(done)
  requests.ask('read_diff', { folder = vim.fn.getcwd() }, function(answer)
    if not answer or answer.fault then
      done(nil, answer and answer.fault or 'the diff was not read: see :Eca log')
    else
      done({ label = answer.label, content = answer.content, cut = answer.cut })
    end
  end)
end

return M
