--- The lines that a preview is about, wherever edits have moved them.
---
--- Rules kept here:
--- - Each line has an extmark of its own, and so has the line below them: Neovim moves them with
---   all edits, and back with an undo.
--- - A line counts only if its mark is at the beginning of a line with the same text: else it was
---   edited, and what would replace it is a conflict. The mark of a deleted line is where that of
---   the next line is, which owns that place.
--- - A buffer that is read again loses its marks. The lines are looked for again, nearest first.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.preview.region')

---@class eca.Region
---@field buf integer
---@field old string[] the lines as they were
---@field marks integer[] extmarks of these lines, and one of the line below
---@field above? integer extmark of the line above
---@field now? eca.RegionNow
---@field kept? eca.KeptRegion while the buffer is read again
---@field first integer row where the lines were last

---@class eca.KeptRegion where the lines were, before their marks were lost
---@field first integer row
---@field lines string[] what stood there
---@field offsets integer[] rows of the old lines in them

---@class eca.PreviewHunk
---@field first integer of the old lines, 0-based
---@field last integer exclusive
---@field lines string[] the new ones
---@field old [integer, integer, integer][] parts that differ: place in the old lines, byte columns
---@field new [integer, integer, integer][]

---@param buf integer
---@param row integer
---@return integer mark
local function mark(buf, row)
  return vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {})
end

---@param region eca.Region
---@param rows integer[]
---@param below integer
local function set_marks(region, rows, below)
  region.marks, region.now = {}, nil
  region.above = rows[1] > 0 and mark(region.buf, rows[1] - 1) or nil
  for _, row in ipairs(rows) do
    region.marks[#region.marks + 1] = mark(region.buf, row)
  end
  if below < vim.api.nvim_buf_line_count(region.buf) then
    region.marks[#region.marks + 1] = mark(region.buf, below)
  end
end

--- Follow lines of a buffer.
---@param buf integer
---@param first integer 1-based
---@param last integer
---@return eca.Region
function M.make(buf, first, last)
  local old = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  local region = { buf = buf, old = old, marks = {}, first = first - 1 } ---@type eca.Region
  local rows = {} ---@type integer[]
  for row = first - 1, last - 1 do
    rows[#rows + 1] = row
  end
  set_marks(region, rows, last)
  return region
end

---@param region eca.Region
function M.forget(region)
  local marks = vim.list_extend({ region.above }, region.marks)
  region.now = nil
  for _, id in ipairs(vim.api.nvim_buf_is_valid(region.buf) and marks or {}) do
    vim.api.nvim_buf_del_extmark(region.buf, namespace, id)
  end
end

---@class eca.RegionNow where the lines are, as of a tick of the buffer
---@field tick integer
---@field rows integer[] of each line, and of the end
---@field joined table<integer, true> lines that are the end of another one now
---@field first integer row
---@field lines string[] from that row to the end

--- Where the lines are now. It is looked up once for each change of the text: marks move with it.
---@param region eca.Region
---@return eca.RegionNow? nil: the marks are lost
local function look(region)
  local buf, tick = region.buf, vim.api.nvim_buf_get_changedtick(region.buf)
  if region.now and region.now.tick == tick then
    return region.now
  end
  local places = {} ---@type table<integer, [integer, integer]>
  for _, found in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, {})) do
    places[found[1]] = { found[2], found[3] }
  end
  local count = vim.api.nvim_buf_line_count(buf) -- marks stay behind it when the file is read again
  local now = { tick = tick, rows = {}, joined = {} } ---@type eca.RegionNow
  for place = 1, #region.old + 1 do
    local at = places[region.marks[place]]
    if not at and place <= #region.old then
      return nil
    end
    now.rows[place] = math.min(at and at[1] or count, count)
    now.joined[place] = at and at[2] > 0 or nil
  end
  now.first = now.rows[1]
  now.lines = vim.api.nvim_buf_get_lines(buf, now.first, now.rows[#now.rows], false)
  region.now = now
  return now
end

--- The rows of the lines, and which of them are the end of another one.
---@param region eca.Region
---@return integer[]? rows nil: the marks are lost
---@return table<integer, true> joined
local function rows_of(region)
  local now = look(region)
  return now and now.rows, now and now.joined or {}
end

--- The rows of the lines as they are now, the last exclusive.
---@param region eca.Region
---@return integer? first nil: the lines were deleted, or their buffer is gone
---@return integer? last
function M.rows(region)
  if not vim.api.nvim_buf_is_loaded(region.buf) then
    return nil
  end
  local rows = rows_of(region)
  local first, last = rows and rows[1], rows and rows[#rows]
  region.first = first or region.first
  return first and first < last and first or nil, last
end

--- The rows of the lines as they are now, without what was added below the last one; of deleted
--- ones, the row where they were.
---@param region eca.Region
---@return integer first, integer last exclusive
function M.near(region)
  local first, last = M.rows(region)
  if first and last then
    return first, math.min(last, assert(region.now).rows[#region.old] + 1)
  end
  local is_loaded = vim.api.nvim_buf_is_loaded(region.buf)
  local count = is_loaded and vim.api.nvim_buf_line_count(region.buf) or 1
  local row = math.max(0, math.min(last or region.first, count - 1))
  return row, row + 1
end

--- Let the lines be one row, as they are gone.
---@param region eca.Region
function M.give_up(region)
  local row = M.near(region)
  region.old, region.kept = vim.api.nvim_buf_get_lines(region.buf, row, row + 1, false), nil
  M.forget(region)
  set_marks(region, { row }, row + 1)
end

--- Has the buffer lost the marks, because it was read again?
---@param region eca.Region
---@return boolean
function M.is_lost(region)
  local is_known = not region.kept and rows_of(region) ~= nil
  return vim.api.nvim_buf_is_loaded(region.buf) and not is_known
end

--- Is the old line of this number where its mark is, unchanged?
---@param region eca.Region
---@param rows integer[]
---@param joined table<integer, true>
---@param number integer 1-based
---@return boolean
local function stands(region, rows, joined, number)
  local row = rows[number]
  if row == rows[number + 1] or joined[number] then
    return false
  end
  local now = assert(region.now) -- rows are as of this look
  return now.lines[row - now.first + 1] == region.old[number]
end

--- Where a hunk goes now.
---@param region eca.Region
---@param hunk eca.PreviewHunk
---@return integer? first row of its old lines; nil: they were edited
---@return integer? last exclusive
function M.place(region, hunk)
  local rows, joined = rows_of(region)
  if not rows then
    return nil
  elseif hunk.first == hunk.last then -- between two lines: below the upper one, if that stands
    if hunk.first > 0 and stands(region, rows, joined, hunk.first) then
      return rows[hunk.first] + 1, rows[hunk.first] + 1
    end
    local below = hunk.first < #region.old and stands(region, rows, joined, hunk.first + 1)
    local row = below and rows[hunk.first + 1] or nil
    return row, row
  end
  local first = rows[hunk.first + 1]
  for number = hunk.first + 1, hunk.last do
    local follows = rows[number] == first + number - hunk.first - 1
    if not follows or not stands(region, rows, joined, number) then
      return nil
    end
  end
  return first, first + hunk.last - hunk.first
end

--- Do the new lines of a hunk stand in the place of the old ones already?
---@param region eca.Region
---@param hunk eca.PreviewHunk
---@return boolean
function M.is_done(region, hunk)
  local rows, joined = rows_of(region)
  if not rows or hunk.first < hunk.last and M.place(region, hunk) then
    return false
  end
  local upper = rows[hunk.first] ---@type integer?
  if hunk.first == 0 then
    local at = region.above
      and vim.api.nvim_buf_get_extmark_by_id(region.buf, namespace, region.above, {})[1]
    upper = math.min(at or -1, rows[1] - 1) -- it is on that row if its line was deleted
  elseif not stands(region, rows, joined, hunk.first) then
    upper = nil
  end
  local first, last = upper and upper + 1, rows[hunk.last + 1]
  return first ~= nil
    and last - first == #hunk.lines
    and vim.deep_equal(vim.api.nvim_buf_get_lines(region.buf, first, last, false), hunk.lines)
end

--- Where an edited hunk is shown: the rows between its neighbours.
---@param region eca.Region
---@param hunk eca.PreviewHunk
---@return integer first, integer last exclusive
function M.around(region, hunk)
  local rows = rows_of(region)
  if not rows then -- the buffer was read again, and the lines are looked for in a moment
    return M.near(region)
  end
  local first = rows[math.min(hunk.first + 1, #region.old)]
  return first, math.max(first, rows[hunk.last + 1])
end

--- Note where the lines are, because the buffer is about to be read again.
---@param region eca.Region
function M.keep(region)
  local rows, first, last = rows_of(region), M.rows(region)
  if rows and first then
    local offsets = {} ---@type integer[]
    for number = 1, #region.old do -- a line may have been moved away
      offsets[number] = math.max(0, math.min(rows[number], last) - first)
    end
    local lines = vim.api.nvim_buf_get_lines(region.buf, first, last, false)
    region.kept = { first = first, lines = lines, offsets = offsets }
  end
end

--- The row nearest to another one from which on a buffer has some lines.
---@param all string[]
---@param wanted string[]
---@param near integer
---@return integer?
local function find(all, wanted, near)
  local nearest ---@type integer?
  for row = 0, #all - #wanted do
    local found = true
    for offset = 1, #wanted do
      found = found and all[row + offset] == wanted[offset]
      if not found then
        break
      end
    end
    if found and (not nearest or math.abs(row - near) < math.abs(nearest - near)) then
      nearest = row
    end
  end
  return nearest
end

--- Find the lines again after the buffer was read again.
---@param region eca.Region
---@return boolean found
function M.find_again(region)
  local kept, all = region.kept, vim.api.nvim_buf_get_lines(region.buf, 0, -1, false)
  region.kept = nil
  local row = kept and find(all, kept.lines, kept.first)
  local offsets, count = kept and kept.offsets or {}, kept and #kept.lines or 0
  if not row then -- what was accepted was not saved, or it is not known what that was
    row, offsets, count = find(all, region.old, region.first), {}, #region.old
    for number = 1, count do
      offsets[number] = number - 1
    end
  end
  if not row then
    return false
  end
  M.forget(region)
  set_marks(
    region,
    vim.tbl_map(function(offset)
      return row + offset
    end, offsets),
    row + count
  )
  return true
end

return M
