--- The subcommands of `:Eca` that are about servers: choosing, starting and ending one, logging in,
--- and the folders that they work in.
---
--- Rules kept here: without a name the server of the current chat is meant.

---@return string[]
local function server_names()
  return require('eca.state.servers').names()
end

---@param rest string
---@return string?
local function given(rest)
  return rest ~= '' and rest or nil
end

---@param text string
---@param act 'choose'|'start'|'restart'|'quit' what is done with the server that is named
---@return eca.Subcommand
local function server(text, act)
  local function run(rest, call)
    require('eca.actions.servers')[act](given(rest), call.bang)
  end
  return { text = text, run = run, choices = server_names }
end

---@param text string
---@param act 'login'|'logout'
---@return eca.Subcommand
local function login(text, act)
  return {
    text = text,
    run = function(rest)
      local chat = require('eca.window').current_chat()
      local lack = require('eca.state.abilities').fault(chat, act)
      if lack then
        return require('eca.ui.notify').warn(lack)
      end
      require('eca.actions.servers')[act](given(rest))
    end,
    choices = function()
      return require('eca.actions.servers').logins()
    end,
  }
end

---@param rest string
local function folder(rest)
  local act, path = rest:match('^(%l*)%s*(.*)$')
  if rest == '' then
    require('eca.actions.folders').list()
  elseif act == 'add' or act == 'remove' then
    require('eca.actions.folders')[act](given((path:gsub('\\ ', ' '))))
  else
    require('eca.ui.notify').warn("folder takes 'add' or 'remove', and a folder")
  end
end

---@type table<string, eca.Subcommand>
return {
  folder = {
    text = 'let the agents work in another folder, too',
    run = folder,
    choices = function(lead, _, before)
      return require('eca.commands.completion').folders(lead, before)
    end,
  },
  server = server('choose the server of new chats', 'choose'),
  start = server('start the server', 'start'),
  restart = server('restart the server', 'restart'),
  quit = server('stop the server', 'quit'),
  login = login('log in to the server, or to a model provider', 'login'),
  logout = login('log out', 'logout'),
  demo = {
    text = 'talk to the built-in demo agent',
    run = function()
      require('eca.actions.servers').demo()
    end,
  },
}
