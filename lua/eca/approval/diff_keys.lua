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

--- The row at which the diff of a request begins: rows before it are of other arguments. Colours
--- tell, because the host alone makes them.
---@param item eca.Pending
---@return integer? row 0-based; nil: it shows no diff
local function first_of_diff(item)
  local group = #(item.paths or {}) > 1 and 'EcaToolTarget' or 'EcaDiffHunk'
  local first ---@type integer?
  for _, mark in ipairs(item.marks or {}) do
    if mark[3] < 0 and mark[4] == group then
      first = math.min(first or mark[1], mark[1])
    end
  end
  return first
end

--- Is a request nothing but changes of files, and the warnings about them?
---@param item eca.Pending
---@return boolean
function M.is_diff_alone(item)
  return first_of_diff(item) == 0
end

--- What the texts of a diff do not show of its request.
---@param request eca.Request with the digest of what is shown
---@return string[]
function M.warnings(request)
  local now = decide.now(request)
  local lines = vim.list_extend({}, now and now.warnings or {})
  if now and (first_of_diff(now) or 0) > 0 then
    lines[#lines + 1] = 'the request says more than these texts: close this to read it in the float'
  end
  return lines
end

return M
