--- Actions on logins: logging in to the server of the current chat, and out.
---
--- Rules kept here: what a login asks, it asks in the chat.
local choose = require('eca.ui.choose')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local requests = require('eca.host.requests')
local sanitize = require('eca.ui.sanitize')
local windows = require('eca.window')

local M = {}

--- Columns that Neovim's own list needs for numbers.
local MARGIN = 5

---@class eca.LoginWay
---@field id string
---@field name string
---@field about string
---@field logged_in? boolean nil: not known

local known = {} ---@type table<string, eca.LoginWay[]> by server, as it was last listed

--- Ask how the user can log in to the server of a chat.
---@param chat string
---@param callback? fun(ways: eca.LoginWay[])
local function list(chat, callback)
  requests.ask('list_logins', { chat = chat }, function(ways)
    known[mirror.server_name(chat)] = ways
    if ways and callback then
      callback(ways)
    end
  end)
end

---@param way eca.LoginWay
---@return string
local function row(way)
  local about = way.about ~= '' and ('  ' .. way.about) or ''
  return display_width.cut(sanitize.line(way.name .. about), vim.o.columns - MARGIN)
end

---@param ways eca.LoginWay[]
---@param prompt string
---@param on_choice fun(way: eca.LoginWay)
local function pick(ways, prompt, on_choice)
  choose.one(ways, { prompt = prompt, format_item = row }, function(way)
    if way then
      on_choice(way)
    end
  end)
end

--- The ids of the ways that were listed last; they are listed again for the next time.
---@return string[]
function M.names()
  local chat = windows.current_chat()
  if not chat then
    return {}
  end
  list(chat)
  return vim.tbl_map(function(way)
    return way.id
  end, known[mirror.server_name(chat)] or {})
end

--- Log in to the server of the current chat.
---@param id? string of the way; without it a list is shown
function M.login(id)
  local chat = eca.open()
  local function log_in(way)
    host.send('log_in', { chat = chat, way = way })
  end
  if id then
    return log_in(id)
  end
  list(chat, function(ways)
    if #ways == 0 then
      notify.info('this server has no login: log in with its own program')
    else
      pick(ways, 'Log in', function(way)
        log_in(way.id)
      end)
    end
  end)
end

--- Log out of the server of the current chat.
---@param id? string of one of several logins; without it a list is shown, if there are several
function M.logout(id)
  local chat = eca.current()
  local function log_out(way)
    host.send('log_out', { chat = chat, way = way })
  end
  if id then
    return log_out(id)
  end
  list(chat, function(ways)
    local several = vim.tbl_filter(function(way)
      return way.logged_in ~= nil
    end, ways)
    local logged_in = vim.tbl_filter(function(way)
      return way.logged_in
    end, several)
    if #several == 0 then
      log_out()
    elseif #logged_in == 0 then
      notify.info('you are not logged in')
    else
      pick(logged_in, 'Log out', function(way)
        log_out(way.id)
      end)
    end
  end)
end

return M
