--- The keys of the diff tab that answer the request it shows.
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
  local function accept(remember)
    return function()
      decide.accept(request, remember)
    end
  end
  local function reject()
    decide.reject(request)
  end
  local function reject_with_reason()
    decide.reject_with_reason(request)
  end
  local keys = { { key = 'a', text = 'allow', run = accept(false) } } ---@type eca.DiffAction[]
  if now.remember then
    keys[2] = { key = 'A', text = 'always', run = accept(true) }
  end
  keys[#keys + 1] = { key = 'r', text = 'reject', run = reject }
  keys[#keys + 1] = { key = 'R', text = '+ reason', run = reject_with_reason }
  return keys
end

--- Is a request pending that has changed since it was shown?
---@param request eca.Request with the digest of what is shown
---@return boolean
function M.is_outdated(request)
  local now = decide.now(request)
  return now ~= nil and now.digest ~= request.digest
end

return M
