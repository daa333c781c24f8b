--- View ops: everything that the host can have the view draw, by name, with their fields in order.
---
--- Rules kept here:
--- - `eca_nvim/chat/vocabulary/ops.py` has the same names and fields, and explains them. A test
---   checks that both are equal.
---@type table<string, string[]>
return {
  open = { 'chat', 'block', 'kind', 'header', 'depth', 'after', 'lost', 'text', 'closed' },
  header = { 'chat', 'block', 'header', 'lost' },
  append = { 'chat', 'block', 'text' },
  body = { 'chat', 'block', 'lines', 'marks', 'language' },
  close = { 'chat', 'block' },
  remove = { 'chat', 'block' },
  clear = { 'chat' },
  status = { 'chat', 'status' },
  pending = { 'items' },
  queue = { 'chat', 'prompts' },
  plan = { 'chat', 'plan' },
  usage = { 'chat', 'rows' },
  work = { 'titles', 'server', 'jobs' },
  options = { 'chat', 'options' },
  server = { 'state', 'label', 'server' },
  input = { 'chat', 'text' },
  show = { 'chat' },
  forget = { 'chat' },
  draft = { 'chat', 'text', 'adopted' },
  prompts = { 'prompts' },
  diff = { 'chat', 'id', 'path', 'before', 'after', 'kind', 'request', 'fault', 'remark', 'file' },
  output = { 'chat', 'block', 'title', 'lines', 'marks', 'language', 'row' },
  notify = { 'level', 'text' },
  unwritable = { 'path', 'fault', 'text' },
  emit = { 'event', 'data' },
  files = { 'chat', 'paths', 'moved' },
  used = { 'chat', 'turn', 'files', 'dropped' },
  place = { 'chat', 'path', 'places', 'done' },
  external = { 'target' },
  completions = { 'chat', 'trigger', 'query', 'items', 'final' },
  templates = { 'templates' },
  run_login = { 'number', 'title', 'command', 'environment', 'folder' },
  end_login = { 'number' },
  answer = { 'request', 'value' },
}
