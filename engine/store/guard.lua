-- What engine/guard decides, for Redis 6 and later and Valkey: one request on
-- one key. The names are those of the Go code, and so is the order of things;
-- a test holds the two together over random histories.
--
-- KEYS[1] holds the state, a list of numbers (guard.State.Append), KEYS[2] is
-- where a state that cannot be read is set aside. ARGV[1] is the request and the
-- guards, as words name=number (words.go); a name that is missing is 0. The answer
-- has the same form. Everything is an integer below 2^53.

local floor, min, max = math.floor, math.min, math.max

local zero = { __index = function() return 0 end }

local r = setmetatable({}, zero)
for name, number in string.gmatch(ARGV[1], '(%w+)=(%-?%d+)') do r[name] = tonumber(number) end

local MILLION, PARTS, WIDTHS, MOST, GREATEST, SUM = 1000000, 10, 3, 400000000, 9007199254740991, 40
local LEASE, DAY, LONGEST, RECENT, ENOUGH = 10000, 86400000, 10, 100, 10
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local BREAKER, BUDGET, TOKENS, SLOTS, ADAPTIVE, RATE_LIMIT = 1, 2, 3, 4, 5, 6
local SUCCESS, FAILURE = 1, 2
local named = r.rate > 0 or r.row > 0
local a = {} -- the answer
local known = true

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)

local function ceilDiv(a, b) return floor((a + b - 1) / b) end

-- The state is read and written as guard.Read and guard.State.Append do it.

local SCALARS = { 'used', 'keep', 'circuit', 'generation', 'opened', 'openings', 'failures', 'outcomes', 'row', 'successes',
  'missing', 'stamp', 'free', 'reserved', 'forgot' }
local VERSION = 3

local function fresh()
  return setmetatable({ probes = {}, slots = {}, windows = {}, budget = {}, recent = {} }, zero)
end

-- read raises an error if a text is not one that write has written: the sum in
-- front of the numbers is cheaper than a look at each of them.
local function read(text)
  assert(redis.sha1hex(string.sub(text, SUM + 1)) == string.sub(text, 1, SUM))
  local list, at = {}, 1
  for word in string.gmatch(string.sub(text, SUM + 1), '%d+') do list[#list + 1] = tonumber(word) end
  local function numbers(n)
    at = at + n
    return unpack(list, at - n, at - 1)
  end
  local function each(one)
    local all = {}
    for i = 1, numbers(1) do all[i] = one() end
    return all
  end
  local function lease() return { numbers(2) } end
  local function window()
    local width, used, newest = numbers(3)
    return { width = width, used = used, newest = newest, counts = { numbers(2 * PARTS) } }
  end
  local s = fresh()
  assert(numbers(1) == VERSION)
  for _, name in ipairs(SCALARS) do s[name] = numbers(1) end
  s.probes, s.slots, s.windows, s.budget = each(lease), each(lease), each(window), each(window)
  s.recent = { numbers(numbers(1)) }
  assert(at == #list + 1 and s.circuit <= HALF_OPEN)
  return s
end

local function write(s)
  local parts = {}
  local function add(...) parts[#parts + 1] = string.format(string.rep('%.0f ', select('#', ...)), ...) end
  local function leases(all)
    add(#all)
    for _, l in ipairs(all) do add(l[1], l[2]) end
  end
  local function windows(all)
    add(#all)
    for _, w in ipairs(all) do add(w.width, w.used, w.newest, unpack(w.counts)) end
  end
  add(VERSION)
  for _, name in ipairs(SCALARS) do add(s[name]) end
  leases(s.probes)
  leases(s.slots)
  windows(s.windows)
  windows(s.budget)
  add(#s.recent, unpack(s.recent))
  local text = table.concat(parts)
  return redis.sha1hex(text) .. text
end

local function load()
  local text = redis.pcall('GET', KEYS[1])
  if not text then
    known = false
    return fresh()
  end
  local whole, s = false, nil
  if type(text) == 'string' then whole, s = pcall(read, text) end
  if not whole or not s then
    redis.call('RENAME', KEYS[1], KEYS[2])
    redis.call('PEXPIRE', KEYS[2], DAY)
    a.damaged = 1
    return fresh()
  end
  if s.used > 0 and now - s.used > s.keep then return fresh() end
  return s
end

local s = load()

-- Leases (slots.go).

local function filter(leases, keep)
  local left = {}
  for _, l in ipairs(leases) do
    if keep(l) then left[#left + 1] = l end
  end
  return left
end

local function expire(leases) return filter(leases, function(l) return l[2] > now end) end

local function release(leases, id) return filter(leases, function(l) return l[1] ~= id end) end

local function clampLeases(leases, longest)
  for _, l in ipairs(leases) do l[2] = min(l[2], now + longest) end
end

-- Windows (window.go). The kinds of counts are 1 and 2: runs and retries,
-- failures and successes. Count k of the slice that is age slices old is at
-- 2 * age + k.

local function slice(width, at) return floor(at * PARTS / width) end

local function zeros() return { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } end

local function advance(w)
  local moved = min(max(slice(w.width, now) - w.newest, -PARTS), PARTS)
  if moved == 0 then return end
  w.newest = slice(w.width, now)
  local counts = zeros()
  for age = 0, PARTS - 1 do
    local at = max(age + moved, 0)
    if at < PARTS then
      for kind = 1, 2 do
        counts[2 * at + kind] = min(counts[2 * at + kind] + w.counts[2 * age + kind], MOST)
      end
    end
  end
  w.counts = counts
end

local function sum(w, kind, n)
  local total, counts = 0, w.counts
  for k = kind, 2 * n, 2 do total = total + counts[k] end
  return total
end

local function window(all, width)
  local w
  for _, one in ipairs(all) do
    if one.width == width then w = one end
  end
  if not w then
    if #all == WIDTHS then
      local oldest = 1
      for i = 2, WIDTHS do
        if all[i].used < all[oldest].used then oldest = i end
      end
      table.remove(all, oldest)
    end
    w = { width = width, newest = slice(width, now), counts = zeros() }
    all[#all + 1] = w
  end
  w.used = now
  advance(w)
  return w
end

local function count(all, kind)
  for _, w in ipairs(all) do
    advance(w)
    w.counts[kind] = min(w.counts[kind] + 1, MOST)
  end
end

local function takeBack(all, kind, at)
  for _, w in ipairs(all) do
    advance(w)
    local age = max(w.newest - slice(w.width, at), 0)
    if age < PARTS then
      w.counts[2 * age + kind] = max(w.counts[2 * age + kind] - 1, 0)
    end
  end
end

-- A refusal is a table of the answer's words.

local function refusal(guard, again, figures)
  figures.guard, figures.again = guard, again
  return figures
end

-- The breaker (breaker.go).

local function checkBreaker(copy)
  if not named or s.circuit == CLOSED then return nil end
  if s.circuit == OPEN then
    local left = s.opened + min(s.openings, LONGEST) * r.open - now
    if left <= 0 and not copy then return nil end
    return refusal(BREAKER, max(left, 0), { circuit = OPEN, failures = s.failures, outcomes = s.outcomes, openings = s.openings })
  end
  local probes, again = 0, 0
  for _, l in ipairs(s.probes) do
    local left = l[2] - now
    if left > 0 and l[1] ~= r.id then
      probes = probes + 1
      if probes == 1 or left < again then again = left end
    end
  end
  if probes < r.probes and not copy then return nil end
  return refusal(BREAKER, again, { circuit = HALF_OPEN, probes = probes })
end

local function change(to)
  s.circuit, s.generation = to, min(max(s.generation + 1, now), GREATEST)
  s.successes, s.probes = 0, {}
end

local function open(failed, total)
  s.opened, s.openings = now, min(s.openings + 1, GREATEST)
  s.failures, s.outcomes = failed, total
  s.row, s.windows = 0, {}
  change(OPEN)
end

local function enterBreaker()
  if named and s.circuit == OPEN then change(HALF_OPEN) end
  if named and s.circuit == HALF_OPEN then
    s.probes = release(expire(s.probes), r.id)
    s.probes[#s.probes + 1] = { r.id, now + LEASE }
    a.place = 1
  end
  a.generation = s.generation
end

local function probed()
  s.probes = expire(s.probes)
  local before = #s.probes
  s.probes = release(s.probes, r.passId)
  if #s.probes == before then return end
  if r.outcome == SUCCESS then
    s.successes = min(s.successes + 1, GREATEST)
    if s.successes >= r.probes then
      s.openings, s.failures, s.outcomes = 0, 0, 0
      change(CLOSED)
    end
  elseif r.outcome == FAILURE then
    open(s.failures, s.outcomes)
  end
end

local function breakerOutcome()
  local kind = 2
  s.row = min(s.row + 1, GREATEST)
  if r.outcome == FAILURE then kind = 1 else s.row = 0 end
  if r.row > 0 then
    count(s.windows, kind)
    if s.row >= r.row then open(s.row, s.row) end
    return
  end
  local w = window(s.windows, r.window)
  count(s.windows, kind)
  local failed = sum(w, 1, PARTS)
  local total = failed + sum(w, 2, PARTS)
  if total >= r.min and failed * MILLION >= r.rate * total then open(failed, total) end
end

-- Budget (budget.go). Each take leaves in a.taken what it took.

local function pays(run, retried)
  local all = max(r.budgetMin * MILLION, r.budgetRatio * run)
  local rest = all % (2 * MILLION)
  local limit = (all - rest) / (2 * MILLION) * r.budgetShare + ceilDiv(rest * r.budgetShare, 2 * MILLION)
  return retried * MILLION < limit
end

local function takeBudget()
  if r.budget == 0 then return nil end
  local w = window(s.budget, r.budgetWindow)
  local run, retried = sum(w, 1, PARTS), sum(w, 2, PARTS)
  if pays(run, retried) then
    count(s.budget, 2)
    a.takenAt, a.takenBudget = now, 1
    return nil
  end
  local again = -1
  for left = PARTS - 1, 0, -1 do
    if pays(sum(w, 1, left), sum(w, 2, left)) then
      again = ceilDiv((w.newest + PARTS - left) * w.width, PARTS) - now
      break
    end
  end
  return refusal(BUDGET, again, { retries = retried, runs = run })
end

local function countRun()
  if r.budget == 0 or r.attempt ~= 1 then return end
  window(s.budget, r.budgetWindow)
  count(s.budget, 1)
end

-- Bucket (tokens.go).

local function refill()
  if r.refill > 0 and s.missing > 0 then
    local gone = now - s.stamp
    if gone >= ceilDiv(s.missing, r.refill) then
      s.missing = 0
    else
      s.missing = s.missing - r.refill * gone
    end
  end
  if r.refill > 0 or s.missing == 0 then s.stamp = now end
end

local function takeTokens()
  if r.capacity == 0 then return nil end
  local cost = r.timedOut == 1 and r.timeoutCost or r.cost
  refill()
  local left = r.capacity * MILLION - s.missing
  local kept = r.capacity * (2 * MILLION - r.tokenShare)
  local short = 2 * cost * MILLION + kept - 2 * left
  if short <= 0 then
    s.missing = s.missing + cost * MILLION
    a.takenAt, a.takenCost = now, cost
    return nil
  end
  local again = -1
  if r.refill > 0 and 2 * cost * MILLION + kept <= 2 * r.capacity * MILLION then again = ceilDiv(short, 2 * r.refill) end
  return refusal(TOKENS, again, { left = max(left, 0), kept = floor(kept / 2), cost = cost })
end

local function give(n)
  refill()
  s.missing = max(s.missing - n * MILLION, 0)
end

-- giveBack gives back what a retry took.
local function giveBack(at, budget, cost)
  if budget == 1 and r.budget == 1 then takeBack(s.budget, 2, at) end
  if cost > 0 and r.capacity > 0 then give(cost) end
end

local function giveBackRequest() giveBack(r.takenAt, r.takenBudget, r.takenCost) end

local function giveBackAnswer()
  giveBack(a.takenAt or 0, a.takenBudget or 0, a.takenCost or 0)
  a.takenAt, a.takenBudget, a.takenCost = nil, nil, nil
end

-- Slots (slots.go).

local function otherSlots(id) return release(expire(s.slots), id) end

local function checkSlots()
  if r.slot == 0 or r.slots == 0 then return nil end
  local held = #otherSlots(r.id)
  if held < r.slots then return nil end
  return refusal(SLOTS, -1, { held = held })
end

-- Turns (rate.go).

local function takeTurn(patience)
  if r.interval == 0 then return nil end
  local free = max(s.free, now * 1000)
  local delay = max(free - (r.burst - 1) * r.interval, now * 1000) - now * 1000
  if patience >= 0 and delay > patience * 1000 then return refusal(RATE_LIMIT, ceilDiv(delay, 1000), {}) end
  s.free, s.reserved, a.delay = min(free + r.interval, GREATEST), now, delay
  return nil
end

-- Attempts (adaptive.go).

local function checkAdaptive()
  if r.adaptive == 0 then return nil end
  local succeeded, outcomes = 0, #s.recent
  for _, ok in ipairs(s.recent) do succeeded = succeeded + ok end
  local attempts = r.attempts
  if attempts == 0 then attempts = 10 end
  local limit = attempts
  if outcomes >= ENOUGH and 10 * succeeded <= 9 * outcomes then
    limit = 1
    if 2 * succeeded >= outcomes then
      limit = 1 + floor((attempts - 1) * (2 * succeeded - outcomes) * 5 / (4 * outcomes))
    end
  end
  if r.attempt <= limit then return nil end
  return refusal(ADAPTIVE, -1, { successes = succeeded, outcomes = outcomes, limit = limit })
end

-- The operations (guard.go), by their number. Each returns its refusal, or nil.

local function takeRetry()
  local refused = takeBudget() or takeTokens()
  if refused then giveBackAnswer() end
  return refused
end

local function enter()
  a.id = r.id
  if r.slot == 1 and r.slots > 0 then
    a.slot = 1
    s.slots = otherSlots(r.id)
    s.slots[#s.slots + 1] = { r.id, now + LEASE }
  end
  enterBreaker()
end

local function permit() return checkBreaker() or checkAdaptive() or takeRetry() end

local function admit()
  if r.turn == 1 then
    local refused = takeTurn(r.patience)
    if refused then
      giveBackRequest()
      return refused
    end
    if a.delay and a.delay > 0 then return nil end
  end
  local refused, broken = checkSlots(), checkBreaker()
  if not refused and not broken then
    enter()
    countRun()
    return nil
  end
  if refused and r.waiting == 1 and (not broken or broken.circuit ~= OPEN) then return refused end
  if not refused or r.waiting == 1 then refused = broken end
  giveBackRequest()
  return refused
end

local function admitCopy()
  local refused = checkBreaker(true) or takeRetry()
  if refused then return refused end
  refused = checkSlots() or takeTurn(0)
  if refused then
    giveBackAnswer()
    return refused
  end
  enter()
  return nil
end

local function freeSlot()
  if r.passSlot == 1 then s.slots = release(s.slots, r.passId) end
end

local function report()
  if named and r.passGeneration == s.generation then
    if s.circuit == HALF_OPEN then
      probed()
    elseif s.circuit == CLOSED and r.outcome > 0 then
      breakerOutcome()
    end
  end
  if r.adaptive == 1 and r.outcome > 0 and r.passGeneration >= s.forgot then
    s.recent[#s.recent + 1] = r.outcome == SUCCESS and 1 or 0
    if #s.recent > RECENT then table.remove(s.recent, 1) end
  end
  freeSlot()
end

local function renew()
  if r.passPlace == 1 then
    s.probes = expire(s.probes)
    for _, l in ipairs(s.probes) do
      if l[1] == r.passId then l[2] = now + LEASE end
    end
  end
  if r.passSlot == 1 then
    local held, others = #expire(s.slots), otherSlots(r.passId)
    if #others == held and held >= r.slots then a.lost = 1 end
    others[#others + 1] = { r.passId, now + LEASE }
    s.slots = others
  end
end

local function finish()
  if r.capacity > 0 and r.succeeded == 1 then
    give(r.attempt <= 1 and r.success or r.takenCost)
  end
  freeSlot()
end

local function reset()
  local before = s
  s = fresh()
  s.generation, s.slots, s.keep = before.generation, before.slots, before.keep
  change(CLOSED)
  s.used, s.forgot = now, s.generation
end

local function keep()
  local longest = max(DAY, ceilDiv(s.free, 1000) - s.used)
  if named then longest = max(longest, 2 * r.window, LONGEST * r.open) end
  if r.budget == 1 then longest = max(longest, 2 * r.budgetWindow) end
  if r.capacity > 0 and r.refill > 0 then longest = max(longest, ceilDiv(s.missing, r.refill)) end
  return longest
end

s.opened, s.stamp, s.forgot = min(s.opened, now), min(s.stamp, now), min(s.forgot, now)
if s.reserved > now then
  s.free, s.reserved = max(s.free - s.reserved * 1000, 0) + now * 1000, now
end
clampLeases(s.probes, LEASE)
clampLeases(s.slots, LEASE)
s.used = now
a.now, a.from = now, s.circuit
local operations = { [0] = permit, admit, admitCopy, report, renew, giveBackRequest, finish, reset }
local refused = operations[r.op]()
for name, figure in pairs(refused or {}) do a[name] = figure end
s.keep = max(s.keep, keep())
a.to = s.circuit
if known or operations[r.op] ~= reset then redis.call('SET', KEYS[1], write(s), 'PX', string.format('%.0f', s.keep)) end

local words = {}
for name, number in pairs(a) do
  if number ~= 0 then words[#words + 1] = string.format('%s=%.0f', name, number) end
end
return redis.status_reply(table.concat(words, ' '))
