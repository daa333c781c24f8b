--- The last line of a preview: how it stands, and the keys that act on it.
local keys = require('eca.ui.keys')

local M = {}

--- What the keys do, by state: the action, and the words.
---@type table<eca.PreviewState, [string, string][]>
local OFFERED = {
  streaming = { { 'PreviewStop', 'stop' } },
  ready = {
    { 'PreviewAccept', 'accept' },
    { 'PreviewAcceptAll', 'all' },
    { 'PreviewReject', 'reject' },
    { 'PreviewRejectAll', 'all' },
    { 'PreviewRetry', 'again' },
    { 'PreviewInstruct', 'edit' },
    { 'PreviewDiff', 'diff' },
  },
  failed = {
    { 'PreviewRetry', 'again' },
    { 'PreviewInstruct', 'edit' },
    { 'PreviewRejectAll', 'close' },
  },
}

local OF_REWRITES = { PreviewRetry = true, PreviewInstruct = true }
local NAMES = { rewrite = 'rewrite', ask = 'answer', put = 'code' }

---@param count integer
---@param noun string
---@return string
local function counted(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

---@param preview eca.Preview
---@param conflicts integer
---@return string
local function state_of(preview, conflicts)
  local name = NAMES[preview.kind]
  if preview.state == 'failed' then
    return ('%s: %s'):format(name, preview.fault)
  elseif preview.state == 'streaming' then
    local seconds = math.floor((vim.uv.now() - preview.began) / 1000)
    local doing = #preview.hunks > 0 and 'writes' or 'waits for the answer'
    return ('%s: %s · %d s'):format(name, doing, seconds)
  end
  local stands = counted(#preview.hunks - conflicts, 'change')
  return conflicts > 0 and ('%s, %s'):format(stands, counted(conflicts, 'conflict')) or stands
end

--- The line as segments; a key and its words stay together where it is wrapped.
---@param preview eca.Preview
---@param conflicts integer hunks whose old lines were edited
---@return eca.Segment[]
function M.of(preview, conflicts)
  local group = preview.state == 'failed' and 'EcaError' or 'EcaMuted'
  local segments = { { state_of(preview, conflicts), group } } ---@type eca.Segment[]
  if preview.unseen then
    local line = ' · made without your unsaved changes'
    segments[#segments + 1] = { line, 'EcaWarning' }
  end
  for _, offer in ipairs(OFFERED[preview.state]) do
    local key = keys.of(preview.region.buf, 'n', offer[1])
    if key and (preview.passage or not OF_REWRITES[offer[1]]) then
      local text = ' ' .. offer[2]
      local needs = vim.api.nvim_strwidth('  ' .. key .. text)
      segments[#segments + 1] = { '  ' .. key, 'EcaKey', needs = needs }
      segments[#segments + 1] = { text, 'EcaMuted' }
    end
  end
  return segments
end

return M
