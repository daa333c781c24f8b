--- Hides what looks like a key or a password in text for the log.
---
--- Rules kept here:
--- - It follows the same rules as `eca_nvim/redaction.py`; one list of cases tests both.
--- - Its cost is linear in the length of the text.
local M = {}

local HIDDEN = '[hidden]'
local SHORTEST_KEY = 6
local SHORTEST_LETTERS = 16
local KEY = '[%w_.~+/=%%-]+'
local BEFORE_KEY = { '_', '-', ':', 'api', 'api ', 'access', 'auth', 'private', 'secret', '?', '&' }
local LONGEST_OPTION, LONGEST_KIND = 24, 32

---@class eca.Anchor text that a secret follows
---@field first integer byte, from 1
---@field last integer
---@field secret eca.FindSecret

--- Returns the first and the last byte of the secret.
---@alias eca.FindSecret fun(text: string, anchor: eca.Anchor): integer?, integer?

--- Match a pattern right there.
---@param text string
---@param pattern string
---@param start integer
---@return integer? first, integer? last
local function match_at(text, pattern, start)
  return text:find('^' .. pattern, start)
end

---@type eca.FindSecret
local function key(text, anchor)
  local first, last = match_at(text, KEY, anchor.last + 1)
  if first and last - first + 1 >= SHORTEST_KEY then
    return first, last
  end
end

--- A key whose beginning may also occur in words: it counts at the start of a word, or right after
--- an escape sequence (a literal `\n`, or a colour).
---@type eca.FindSecret
local function key_alone(text, anchor)
  local before = ('  ' .. text:sub(math.max(1, anchor.first - 2), anchor.first - 1)):sub(-2)
  if before:find('%W$') or before:find('^\\') or before:find('^%Am$') then
    return key(text, anchor)
  end
end

--- A key whose beginning may also occur in words, followed by many letters and digits.
---@type eca.FindSecret
local function letters(text, anchor)
  local first, last = match_at(text, '%w+', anchor.last + 1)
  if first and last - first + 1 >= SHORTEST_LETTERS then
    return match_at(text, KEY, anchor.last + 1)
  end
end

--- The password in an address: `://name:password@host`.
---@type eca.FindSecret
local function in_address(text, anchor)
  local _, colon = match_at(text, '[^%s/@:"\']*:', anchor.last + 1)
  local first, last = nil, nil ---@type integer?, integer?
  if colon then
    first, last = match_at(text, '[^%s/@"\']+', colon + 1)
  end
  if last and text:sub(last + 1, last + 1) == '@' then
    return first, last
  end
end

--- The text between the first and the last line of a private key.
---@type eca.FindSecret
local function key_block(text, anchor)
  local before = text:sub(math.max(1, anchor.first - LONGEST_KIND), anchor.first - 1)
  if (before:match('^.*%-%-%-%-%-(.*)$') or before):find('^BEGIN') then
    local ending = text:find('-----END', anchor.last + 1, true)
    return anchor.last + 1, (ending or #text + 1) - 1
  end
end

---@type eca.FindSecret
local function bearer(text, anchor)
  local _, blanks = match_at(text, '[ \t]+', anchor.last + 1)
  if blanks then
    return match_at(text, KEY, blanks + 1)
  end
end

--- The last byte of a quoted value: before the same quote, else at the end of its line.
---@param text string
---@param opening string the quote, with the backslashes before it
---@param start integer of the value
---@return integer
local function last_quoted(text, opening, start)
  local at = text:find('["\'\r\n]', start)
  while at do
    local mark, last = text:sub(at, at), at - 1
    while last >= start and text:sub(last, last) == '\\' do
      last = last - 1
    end
    if mark:find('%c') then
      return at - 1
    elseif mark == opening:sub(-1) and at - last <= #opening then
      return last
    end
    at = text:find('["\'\r\n]', at + 1)
  end
  return #text
end

--- The first byte of the value after a name: `NAME=…`, `"name": "…"`, `:name "…"`. Before an
--- indented quote a line may end: Clojure prints long values so.
---@param text string
---@param last integer of the name
---@return integer?
local function value_start(text, last)
  local _, closing = match_at(text, '\\*["\']', last + 1)
  local _, blanks = match_at(text, '[ \t]*', (closing or last) + 1)
  local _, gap = match_at(text, '[=:]>?[ \t]*', blanks + 1)
  if not gap then
    local _, quote = match_at(text, '%%22', blanks + 1)
    _, gap = match_at(text, '%%3[ADad][ \t]*', (quote or blanks) + 1)
  end
  if gap then
    return gap + 1
  end
  local _, newline = match_at(text, '\n', blanks + 1)
  if not newline then
    _, newline = match_at(text, '\\+n', blanks + 1)
  end
  if newline then
    _, blanks = match_at(text, '[ \t]*', newline + 1)
  end
  if blanks > (newline or closing or last) and match_at(text, '\\*["\']', blanks + 1) then
    return blanks + 1
  end
end

--- The first byte of the value after an option: `--api-key …`, `"--api-key", "…"`.
---@param text string
---@param anchor eca.Anchor the word that stands for a secret
---@return integer?
local function option_start(text, anchor)
  local before = text:sub(math.max(1, anchor.first - LONGEST_OPTION), anchor.first - 1)
  if not (before:match('^.*[%s"\'](.*)$') or before):find('^%-%-') then
    return nil
  end
  local _, blanks = match_at(text, '[ \t]+', anchor.last + 1)
  local _, comma = match_at(text, '\\*["\'][ \t]*,[ \t]*', anchor.last + 1)
  if blanks or (comma and match_at(text, '\\*["\']', comma + 1)) then
    return (blanks or comma) + 1
  end
end

---@param text string
---@param anchor eca.Anchor
---@return integer?
local function any_value_start(text, anchor)
  return value_start(text, anchor.last) or option_start(text, anchor)
end

--- A quoted value.
---@param text string
---@param start integer of its quote
---@return integer? first, integer? last
local function quoted(text, start)
  local first, last = match_at(text, '\\*["\']', start)
  if first then
    return last + 1, last_quoted(text, text:sub(first, last), last + 1)
  end
end

--- The value of a variable or a header: `"name": "…", "value": "…"`.
---@type eca.FindSecret
local function named_value(text, anchor)
  local _, quote = match_at(text, '%s*:%s*\\*["\'][^"\'\\]*\\*["\']', anchor.last + 1)
  local last = nil ---@type integer?
  if quote then
    _, last = match_at(text, '%s*,%s*\\*["\']value\\*["\']%s*:%s*', quote + 1)
  end
  if last then
    return quoted(text, last + 1)
  end
end

--- Finds the value after a name.
---@param unquoted string pattern of a value without quotes
---@return eca.FindSecret
local function value(unquoted)
  return function(text, anchor)
    local start = any_value_start(text, anchor)
    if not start then
      return nil
    end
    local first, last = quoted(text, start)
    if first then
      return first, last
    end
    return match_at(text, unquoted, start)
  end
end

local word = value('%S+')

--- `API_KEY` and `apiKey`, not `key` nor `monkey`.
---@type eca.FindSecret
local function key_value(text, anchor)
  if not any_value_start(text, anchor) then
    return nil -- checked first, because it is cheap and mostly true
  end
  local before = text:sub(math.max(1, anchor.first - 7), anchor.first - 1)
  local camel = before:find('%l$') and text:sub(anchor.first, anchor.first) == 'K'
  local function ends_so(ending)
    return vim.endswith(before:lower(), ending)
  end
  if camel or vim.iter(BEFORE_KEY):any(ends_so) then
    return word(text, anchor)
  end
end

--- `DB_PASS`, and not what passes.
---@type eca.FindSecret
local function pass_value(text, anchor)
  if text:sub(anchor.first - 1, anchor.first - 1) == '_' then
    return word(text, anchor)
  end
end

--- Patterns of case-sensitive anchors.
---@type table<string, eca.FindSecret>
local EXACT = {
  ['ya29%.'] = key,
  ['pypi%-AgE'] = key,
  ['ASIA'] = letters,
  ['AIza'] = letters,
  ['SG%.'] = letters,
  ['eyJ'] = letters,
  ['[prs]k_live_'] = letters,
  ['[prs]k_test_'] = letters,
  ['whsec_'] = letters,
  ['npm_'] = letters,
  ['hf_'] = letters,
  ['gsk_'] = letters,
  ['xai%-'] = letters,
  ['pplx%-'] = letters,
  ['dop_v1_'] = letters,
  ['shpat_'] = letters,
  ['PRIVATE KEY%-%-%-%-%-'] = key_block,
  ['://'] = in_address,
}

--- Patterns of anchors in any case, in lower case.
---@type table<string, eca.FindSecret>
local ANCHORS = {
  ['xapp%-'] = key,
  ['hooks%.slack%.com/services/'] = key,
  ['[?&]sig='] = key,
  ['cookie'] = value('[^\r\n]+'),
  ['passphrase'] = word,
  ['pass'] = pass_value,
  ['sk%-'] = key_alone,
  ['gh[oprsu]_'] = key,
  ['github_pat_'] = key,
  ['glpat%-'] = key,
  ['xox%l%-'] = key,
  ['akia'] = key,
  ['bearer'] = bearer,
  ['authorization'] = value('[^\r\n]+'),
  ['token'] = word,
  ['secret'] = word,
  ['password'] = word,
  ['passwd'] = word,
  ['["\']name\\*["\']'] = named_value,
  ['key'] = key_value,
}

---@param anchors eca.Anchor[] found ones are appended
---@param text string
---@param wanted table<string, eca.FindSecret>
local function find_anchors(anchors, text, wanted)
  for pattern, secret in pairs(wanted) do
    local first, last = text:find(pattern)
    while first do
      anchors[#anchors + 1] = { first = first, last = last, secret = secret }
      first, last = text:find(pattern, last + 1)
    end
  end
end

---@param text string
---@return eca.Anchor[] sorted by place, the longer first
local function anchors_of(text)
  local anchors = {} ---@type eca.Anchor[]
  find_anchors(anchors, text:lower(), ANCHORS)
  find_anchors(anchors, text, EXACT)
  table.sort(anchors, function(left, right)
    if left.first ~= right.first then
      return left.first < right.first
    end
    return left.last > right.last
  end)
  return anchors
end

--- Replace everything that looks like a secret by `[hidden]`.
---@param text string
---@return string
function M.without_keys(text)
  local parts, kept = {}, 1 ---@type string[], integer
  for _, anchor in ipairs(anchors_of(text)) do
    local first, last = nil, nil ---@type integer?, integer?
    if anchor.first >= kept then
      first, last = anchor.secret(text, anchor)
    end
    if first and last >= first then
      vim.list_extend(parts, { text:sub(kept, first - 1), HIDDEN })
      kept = last + 1
    end
  end
  return table.concat(parts) .. text:sub(kept)
end

return M
