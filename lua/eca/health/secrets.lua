--- What looks like a secret, hidden in the text of a report.
---
--- Rules kept here:
--- - The host's Python hides what it knows the forms of (`eca_nvim/redaction.py`). The rule of this
---   file needs no Python, and hides what has no known form.
--- - Neovim waits for that Python at most PATIENCE: only a report is shown so.
local python = require('eca.host.python')

local M = {}

M.HIDDEN = '[hidden]'

local PATIENCE = 5000 -- ms
--- Characters of the shortest run of letters, digits, `_` and `-` that may be a key.
local SHORTEST_KEY = 20
--- Characters between two `_` or `-` of it that are letters as well as digits. Names of models have
--- shorter ones (`claude-sonnet-4-5-20250929`, `qwen3-coder-480b-a35b-instruct`).
local SHORTEST_PART = 10

---@param run string
---@return string? in its place
local function hidden(run)
  if #run < SHORTEST_KEY then
    return nil
  end
  for part in run:gmatch('%w+') do
    if #part >= SHORTEST_PART and part:find('%a') and part:find('%d') then
      return M.HIDDEN
    end
  end
end

--- What the host's Python leaves of a text: all of it if there is no Python.
---@param text string
---@return string
local function by_host(text)
  local command = python.find()
  if not command then
    return text
  end
  local how = { stdin = text, timeout = PATIENCE }
  local started, process = pcall(vim.system, python.run_module(command, 'redaction'), how)
  local result = started and process:wait() or {}
  return result.code == 0 and result.stdout or text
end

--- Hide what looks like a secret.
---@param text string
---@return string
function M.hide(text)
  return (by_host(text):gsub('[%w_-]+', hidden))
end

return M
