--- A language server inside Neovim: what it can do is a table of functions.
---
--- Rules kept here:
--- - Answers come after the request has returned, as those of a process do.
--- - What it has no function for is answered with "method not found".
local M = {}

local METHOD_NOT_FOUND = -32601

---@alias eca.ProtocolReply fun(fault?: table, result?: any)
---@alias eca.ProtocolMethods table<string, fun(params: table, reply: eca.ProtocolReply)>

--- Whether a client is the one of a name, as the `reuse_client` of `vim.lsp.start()`: one serves
--- all buffers. Neovim 0.10 would start another one for each, which nothing ends.
---@param name string
---@return fun(client: vim.lsp.Client): boolean
function M.is_named(name)
  return function(client)
    return client.name == name
  end
end

--- A server, as the `cmd` of `vim.lsp.start()`.
---@param name string
---@param capabilities table
---@param methods eca.ProtocolMethods
---@return fun(dispatchers: { on_exit: fun(code: integer, signal: integer) }): table
function M.command(name, capabilities, methods)
  ---@type eca.ProtocolMethods
  local own = {
    initialize = function(_, reply)
      reply(nil, { capabilities = capabilities, serverInfo = { name = name } })
    end,
    shutdown = function(_, reply)
      reply(nil, vim.NIL)
    end,
  }
  ---@param method string
  ---@param params table
  ---@param reply eca.ProtocolReply
  local function answer(method, params, reply)
    local run = own[method] or methods[method]
    if run then
      run(params, reply)
    else
      reply({ code = METHOD_NOT_FOUND, message = 'method not found: ' .. method })
    end
  end
  return function(dispatchers)
    local last, closing = 0, false
    local function close()
      if not closing then
        closing = true
        dispatchers.on_exit(0, 0)
      end
    end
    return {
      request = function(method, params, callback, notify_reply)
        last = last + 1
        local id = last
        if method == 'initialize' then -- so that the client is attached when `start` returns
          answer(method, params, callback)
          return true, id
        end
        vim.schedule(function()
          answer(method, params, function(fault, result)
            if notify_reply then
              notify_reply(id)
            end
            callback(fault, result)
          end)
        end)
        return true, id
      end,
      notify = function(method)
        if method == 'exit' then
          close()
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = close,
    }
  end
end

return M
