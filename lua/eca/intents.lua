--- Intents: all that a user can do, as names and the fields of their payloads.
---
--- Rules kept here:
--- - The Python side has the same names and fields, and says what they mean
---   (`eca_nvim/chat/intents.py`); a test holds the two equal.
---@type table<string, string[]>
return {
  attach = { 'settings', 'folders', 'editor', 'pid' },
  open_chat = { 'chat', 'redraw' },
  prompt = { 'chat', 'text', 'contexts', 'queue' },
  unqueue = { 'chat', 'index', 'edit' },
  stop = { 'chat' },
  approve = { 'chat', 'id', 'remember' },
  reject = { 'chat', 'id', 'reason' },
  answer = { 'chat', 'id', 'text' },
  toggle = { 'chat', 'block', 'open' },
  act = { 'chat', 'block' },
  diff = { 'chat', 'id', 'block' },
  grep = { 'chat', 'pattern', 'request' },
  reveal = { 'chat', 'block', 'request', 'row' },
  output = { 'chat', 'block', 'row' },
  keep_prompt = { 'text' },
  keep_draft = { 'chat', 'text' },
  choose = { 'chat', 'what', 'value' },
  transcript = { 'chat', 'request' },
  list_chats = { 'request' },
  resume = { 'chat', 'instead' },
  older = { 'chat' },
  timeline = { 'chat', 'request' },
  rename = { 'chat', 'title' },
  clear = { 'chat' },
  delete = { 'chat' },
  rollback = { 'chat', 'block', 'messages', 'tools' },
  fork = { 'chat', 'block' },
  add_flag = { 'chat', 'block', 'text' },
  remove_flag = { 'chat', 'block' },
  start = { 'restart', 'demo' },
  quit = {},
  drawn = { 'frame', 'ms' },
  returned = { 'call', 'ok', 'value' },
}
