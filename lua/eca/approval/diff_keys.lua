--- The keys of the diff tab that answer the request it shows.
local choices = require('eca.approval.choices')
local decide = require('eca.input.decide')

local M = {}

--- The keys that answer a request.
---@param request eca.Request with the digest of what is shown
---@return eca.DiffAction[] empty if it is not pending any more
function M.keys(request)
  local now = decide.now(request)
  if not now then
    return {}
  end
  return vim.list_extend(choices.allowing(request, now), choices.rejecting(request, now))
end

--- Is a request pending that has changed since it was shown?
---@param request eca.Request with the digest of what is shown
---@return boolean
function M.is_outdated(request)
  local now = decide.now(request)
  return now ~= nil and now.digest ~= request.digest
end

return M
