--- What the diff tab needs of the request that it shows: keys that answer it, and warnings.
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

--- Is a request nothing but changes of files, and the warnings about them?
---@param item eca.Pending
---@return boolean
function M.is_diff_alone(item)
  return item.diff_row == 0
end

--- What the texts of a diff do not show of its request.
---@param request eca.Request with the digest of what is shown
---@return string[]
function M.warnings(request)
  local now = decide.now(request)
  local lines = vim.list_extend({}, now and now.warnings or {})
  if now and (now.diff_row or 0) > 0 then
    lines[#lines + 1] = 'the request says more than these texts: close this to read it in the float'
  end
  return lines
end

return M
