--- What the approval float shows, and whether two of these are the same.
local footer = require('eca.ui.footer')

local M = {}

---@class eca.PromptContent
---@field key string identifies the request as it was shown
---@field chat string
---@field title string one line, our own text
---@field rest string how to see all of the text, our own text
---@field lines string[]
---@field marks eca.Mark[] of `lines`
---@field quoted [integer, integer] 0-based first and last row of `lines` that the agent wrote
---@field seen? fun(float: integer): eca.SeenBlock? the request's block on the screen
---@field cut? boolean `lines` are not all of it
---@field choices eca.Choice[] what the keys do, in the order of the border
---@field gone fun(by_user: boolean) called when something other than this file closes the window
---@field read fun() called when all of its rows were on the screen, maybe after scrolling

--- Is it the same request, with the same text?
---@param left eca.PromptContent
---@param right eca.PromptContent
---@return boolean
function M.same_request(left, right)
  return left.key == right.key and vim.deep_equal(left.lines, right.lines)
end

--- Is it also drawn the same?
---@param left eca.PromptContent
---@param right eca.PromptContent
---@return boolean
function M.same(left, right)
  return M.same_request(left, right)
    and left.title == right.title
    and vim.deep_equal(left.marks, right.marks)
    and vim.deep_equal(footer.keys(left.choices), footer.keys(right.choices))
end

return M
