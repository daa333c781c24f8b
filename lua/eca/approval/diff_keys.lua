--- What the diff tab asks about the request that it shows: the keys that answer it.
local answers = require('eca.input.decide')

local M = {}

--- The keys that answer a request.
---@param request eca.Request with the digest of what is shown
---@return eca.DiffAction[] none when it does not wait any more
function M.keys(request)
  local now = answers.now(request)
  if not now then
    return {}
  end
  local function accept(remember)
    return function()
      answers.accept(request, remember)
    end
  end
  local function reject()
    answers.reject(request)
  end
  local function say_why()
    answers.reject_with_reason(request)
  end
  local keys = { { key = 'a', text = 'accept', run = accept(false) } } ---@type eca.DiffAction[]
  if now.remember then
    keys[2] = { key = 'A', text = 'remember', run = accept(true) }
  end
  keys[#keys + 1] = { key = 'r', text = 'reject', run = reject }
  keys[#keys + 1] = { key = 'R', text = 'say why', run = say_why }
  return keys
end

--- Does a request wait that has changed since it was shown?
---@param request eca.Request with the digest of what is shown
---@return boolean
function M.is_outdated(request)
  local now = answers.now(request)
  return now ~= nil and now.digest ~= request.digest
end

return M
