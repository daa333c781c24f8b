--- The tool servers of all servers, and their tools, as the host said last.
local mirror = require('eca.state.mirror')

local M = {}

---@class eca.PublicTool
---@field name string
---@field server_name string
---@field mcp? string the MCP server that has it; nil: it is the server's own
---@field description string
---@field disabled boolean for the agent that was selected last

local tools = {} ---@type eca.PublicTool[]
local tool_servers = {} ---@type eca.ToolServer[] in the order in which they came

--- Op `tool_server`.
---@param told eca.ToolServer with the status 'removed' it is gone
function M.set(told)
  local place = #tool_servers + 1
  for index, each in ipairs(tool_servers) do
    place = each.name == told.name and each.server_name == told.server_name and index or place
  end
  if told.status == 'removed' then
    table.remove(tool_servers, place)
    M.set_tools(told.server_name, told.kind ~= 'native' and told.name or nil, {})
  else
    tool_servers[place] = mirror.clean(told)
  end
end

--- Op `tools`.
---@param server string
---@param mcp? string
---@param told table[] name, description and disabled of each
function M.set_tools(server, mcp, told)
  local others = vim.tbl_filter(function(tool)
    return tool.server_name ~= server or tool.mcp ~= mcp
  end, tools)
  for _, tool in ipairs(mirror.clean(told)) do
    tool.server_name, tool.mcp = server, mcp
    others[#others + 1] = tool
  end
  tools = others
end

--- The tools of all servers.
---@return eca.PublicTool[]
function M.tools()
  return vim.deepcopy(tools)
end

--- The tool servers of all servers.
---@return eca.ToolServer[]
function M.all()
  return vim.deepcopy(tool_servers)
end

return M
