--- `:EcaChat` and `:Eca {sub}`.
---
--- Rules kept here:
--- - A prompt is passed on as it was typed: `|`, quotes, `%` and `#` have no meaning in it.
--- - Completion (`completion.lua`) offers only what works. Any other name, and a wrong argument,
---   does nothing but show a message of one line: a typo must not do something unexpected.
local chats = require('eca.chat.buffers')
local did_you_mean = require('eca.config.did_you_mean')
local eca = require('eca')
local keymaps = require('eca.keymaps')
local scan = require('eca.text.scan')
local subcommands = require('eca.commands.subcommands')

local M = {}

--- What is wrong with the name of a subcommand, and the remedy.
---@param name string
---@param possible string[] the names that begin like this
---@return string
local function complaint(name, possible)
  if #possible > 1 then
    return (':Eca %s is ambiguous: %s'):format(name, table.concat(possible, ', '))
  end
  local near = did_you_mean.nearest(name, subcommands.beginning(''))
  local hint = near and ('; did you mean :Eca %s?'):format(near) or ''
  return ('unknown command :Eca %s%s'):format(name, hint)
end

--- What is wrong with an argument.
---@param name string as it was typed
---@param subcommand eca.Subcommand
---@param bang boolean
---@param rest string
---@return string? fault one line
local function fault_of(name, subcommand, bang, rest)
  local alone = bang and subcommand.bang == 'alone'
  if rest == '' or (subcommand.takes == 'text' and not alone) then
    return nil
  elseif alone or not subcommand.takes then
    return ("%s%s takes no argument, not '%s'"):format(name, alone and '!' or '', rest)
  end
  local is_word = vim.list_contains(subcommand.words or {}, rest)
  if not is_word and not (subcommand.number and rest:find(subcommand.number)) then
    return ("%s takes %s, not '%s'"):format(name, subcommand.takes, rest)
  end
end

--- The function that a subcommand names.
---@param named string|function
---@return function
local function loaded(named)
  if type(named) == 'function' then
    return named
  end
  local module, name = named:match('^(.*)%.([%w_]+)$')
  return require('eca.' .. module)[name]
end

--- `:Eca {sub} [rest]`, also by an unambiguous beginning; without a name it opens the palette.
---@param call eca.Call
function M.run(call)
  local name, bang, rest = call.args:match('^([^%s!]*)(!?)(.*)$')
  rest = scan.trim(rest)
  require('eca.view') -- joins the host with what draws
  if name == '' then
    return require('eca.commands.palette').choose()
  end
  local possible = subcommands.beginning(name)
  local found = subcommands.by_name[name] or (#possible == 1 and subcommands.by_name[possible[1]])
  call.bang = call.bang or bang == '!'
  local fault = not found and complaint(name, possible) or fault_of(name, found, call.bang, rest)
  if fault then
    return require('eca.ui.notify').warn(fault)
  end
  local number = found.number and tonumber(rest:match('^%d+'))
  local argument = number or (rest ~= '' and rest or nil)
  bang = call.bang and found.bang ~= nil
  if found.action and not (found.run and (argument or bang)) then
    keymaps.run(found.action, argument, bang)
  elseif keymaps.is_able(subcommands.needs(found)) then
    loaded(found.run)(argument, call.bang, call)
  end
end

--- Completion of `:Eca`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local bang, name, typed = line:match('Eca(!?)%s+(%S+)%s(.*)$')
  if not name then
    return subcommands.beginning(lead)
  end
  local found = subcommands.by_name[name:gsub('!$', '')] or {}
  local banged = bang == '!' or vim.endswith(name, '!')
  local before = scan.trim(typed:sub(1, #typed - #lead))
  local choices = found.choices and loaded(found.choices)(lead, banged, before)
  return require('eca.commands.completion').matching(choices or found.words or {}, lead)
end

--- `:[range]EcaChat[!] [prompt]`: the lines of a range are named in this prompt, or the next one.
---@param call eca.Call
function M.chat(call)
  require('eca.view') -- joins the host with what draws
  local ranged = call.range > 0
  local items = ranged and require('eca.actions.contexts').meant_here(call.line1, call.line2) or {}
  local id = eca.open({ chat = call.bang and chats.new() or nil, mods = call.smods })
  if not call.args:find('%S') then
    return require('eca.input.field').put_below(chats.get(id).input, items)
  end
  local named = require('eca.context.tokens').write_all(items)
  local prompt = call.args .. (named == '' and '' or ' ') .. named
  require('eca.actions.prompts').send(prompt, { chat = id, typed = prompt })
end

return M
