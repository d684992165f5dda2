-- What engine/guard decides, for Redis 6 and later and Valkey: one request on
-- one key. The names are those of the Go code, and so is the order of things;
-- a test holds the two together over random histories.
--
-- KEYS[1] holds the state, a list of numbers (guard.State.Append), KEYS[2] is
-- where a state that cannot be read is set aside. ARGV[1] is the list of numbers
-- that redis.go names. Lists are decimal words. Everything is an integer below 2^53.

local floor, min, max = math.floor, math.min, math.max

local function numbersIn(text, from)
  local list = {}
  for word in string.gmatch(string.sub(text, from), '%d+') do list[#list + 1] = tonumber(word) end
  return list
end

local arg = numbersIn(ARGV[1], 1)
local op = arg[1]
local g = {
  rate = arg[2], row = arg[3], min = arg[4], window = arg[5], open = arg[6], probes = arg[7],
  budget = arg[8], ratio = arg[9], floor = arg[10], width = arg[11], share = arg[12],
  capacity = arg[13], cost = arg[14], timeoutCost = arg[15], success = arg[16], refill = arg[17], tokenShare = arg[18],
  slots = arg[19], adaptive = arg[20], attempts = arg[21],
}
local r = {
  attempt = arg[22], timedOut = arg[23], id = arg[24], slot = arg[25], waiting = arg[26],
  taken = { at = arg[27], budget = arg[28], cost = arg[29] },
  pass = { id = arg[30], generation = arg[31], place = arg[32], slot = arg[33] },
  outcome = arg[34], succeeded = arg[35],
}

local MILLION, PARTS, WIDTHS, MOST, GREATEST, SUM = 1000000, 10, 3, 400000000, 9007199254740991, 40
local LEASE, DAY, LONGEST, RECENT, ENOUGH = 10000, 86400000, 10, 100, 10
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local BREAKER, BUDGET, TOKENS, SLOTS, ADAPTIVE = 1, 2, 3, 4, 5
local PERMIT, ADMIT, ADMIT_COPY, REPORT, RENEW, WITHDRAW, FINISH, RESET = 0, 1, 2, 3, 4, 5, 6, 7
local SUCCESS, FAILURE = 1, 2
local named = g.rate > 0 or g.row > 0
local damaged, known = 0, true

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)

local function ceilDiv(a, b) return floor((a + b - 1) / b) end

-- The state is read and written as guard.Read and guard.State.Append do it.

local function fresh()
  return { used = 0, keep = 0, circuit = CLOSED, generation = 0, opened = 0, openings = 0, failures = 0, outcomes = 0,
    row = 0, successes = 0, probes = {}, windows = {}, budget = {}, missing = 0, stamp = 0, recent = {}, slots = {},
    forgot = 0 }
end

-- read raises an error where a text is not one that write has written: the sum in
-- front of the numbers is cheaper than a look at each of them.
local function read(text)
  assert(redis.sha1hex(string.sub(text, SUM + 1)) == string.sub(text, 1, SUM))
  local list, at = numbersIn(text, SUM + 1), 0
  local function numbers(n)
    at = at + n
    return unpack(list, at - n + 1, at)
  end
  local function leases()
    local all = {}
    for i = 1, numbers(1) do all[i] = { numbers(2) } end
    return all
  end
  local function windows()
    local all = {}
    for i = 1, numbers(1) do
      local width, used, newest = numbers(3)
      all[i] = { width = width, used = used, newest = newest, counts = { numbers(2 * PARTS) } }
    end
    return all
  end
  local version, used, keep, circuit, generation, opened, openings, failures, outcomes, row, successes = numbers(11)
  assert(version == 2)
  local probes, outcomesIn, budget = leases(), windows(), windows()
  local missing, stamp = numbers(2)
  local recent, slots = { numbers(numbers(1)) }, leases()
  local forgot = numbers(1)
  assert(at == #list and circuit >= CLOSED and circuit <= HALF_OPEN)
  return { used = used, keep = keep, circuit = circuit, generation = generation, opened = opened, openings = openings,
    failures = failures, outcomes = outcomes, row = row, successes = successes, probes = probes, windows = outcomesIn,
    budget = budget, missing = missing, stamp = stamp, recent = recent, slots = slots, forgot = forgot }
end

local function write(s)
  local parts = {}
  local function add(...) parts[#parts + 1] = string.format(string.rep('%.0f ', select('#', ...)), ...) end
  add(2, s.used, s.keep, s.circuit, s.generation, s.opened, s.openings, s.failures, s.outcomes, s.row, s.successes)
  local function leases(all)
    add(#all)
    for _, l in ipairs(all) do add(l[1], l[2]) end
  end
  local function windows(all)
    add(#all)
    for _, w in ipairs(all) do add(w.width, w.used, w.newest, unpack(w.counts)) end
  end
  leases(s.probes)
  windows(s.windows)
  windows(s.budget)
  add(s.missing, s.stamp, #s.recent, unpack(s.recent))
  leases(s.slots)
  add(s.forgot)
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
    damaged = 1
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

-- The breaker (breaker.go). A refusal is {guard, retry in, circuit, figures}.

local function breakerRefuses()
  if not named or s.circuit == CLOSED then return nil, nil end
  if s.circuit == OPEN then
    local left = s.opened + min(s.openings, LONGEST) * g.open - now
    local refusal = { BREAKER, left, OPEN, s.failures, s.outcomes, s.openings }
    return left > 0 and refusal or nil, refusal
  end
  s.probes = expire(s.probes)
  local left = 0
  for i, l in ipairs(s.probes) do
    left = i == 1 and l[2] - now or min(left, l[2] - now)
  end
  local refusal = { BREAKER, left, HALF_OPEN, #s.probes, g.probes, 0 }
  return #s.probes >= g.probes and refusal or nil, refusal
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

local function enter(pass)
  if named and s.circuit == OPEN then change(HALF_OPEN) end
  if named and s.circuit == HALF_OPEN then
    s.probes[#s.probes + 1] = { pass.id, now + LEASE }
    pass.place = 1
  end
  pass.generation = s.generation
end

local function probed()
  s.probes = expire(s.probes)
  local before = #s.probes
  s.probes = release(s.probes, r.pass.id)
  if #s.probes == before then return end
  if r.outcome == SUCCESS then
    s.successes = min(s.successes + 1, GREATEST)
    if s.successes >= g.probes then
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
  if g.row > 0 then
    count(s.windows, kind)
    if s.row >= g.row then open(s.row, s.row) end
    return
  end
  local w = window(s.windows, g.window)
  count(s.windows, kind)
  local failed = sum(w, 1, PARTS)
  local total = failed + sum(w, 2, PARTS)
  if total >= g.min and failed * MILLION >= g.rate * total then open(failed, total) end
end

-- Budget, bucket, slots, attempts (budget.go, tokens.go, slots.go, adaptive.go).

local function pays(run, retried)
  local all = max(g.floor * MILLION, g.ratio * run)
  local rest = all % (2 * MILLION)
  local limit = (all - rest) / (2 * MILLION) * g.share + ceilDiv(rest * g.share, 2 * MILLION)
  return retried * MILLION < limit
end

local function budgetRefuses(w)
  local run, retried = sum(w, 1, PARTS), sum(w, 2, PARTS)
  if pays(run, retried) then return nil end
  for left = PARTS - 1, 0, -1 do
    if pays(sum(w, 1, left), sum(w, 2, left)) then
      return { BUDGET, ceilDiv((w.newest + PARTS - left) * w.width, PARTS) - now, CLOSED, retried, run, 0 }
    end
  end
  return { BUDGET, -1, CLOSED, retried, run, 0 }
end

local function refill()
  if g.refill > 0 and s.missing > 0 then
    local gone = now - s.stamp
    if gone >= ceilDiv(s.missing, g.refill) then
      s.missing = 0
    else
      s.missing = s.missing - g.refill * gone
    end
  end
  if g.refill > 0 or s.missing == 0 then s.stamp = now end
end

local function take(cost)
  refill()
  local left = g.capacity * MILLION - s.missing
  local kept = g.capacity * (2 * MILLION - g.tokenShare)
  local short = 2 * cost * MILLION + kept - 2 * left
  if short <= 0 then
    s.missing = s.missing + cost * MILLION
    return nil
  end
  local again = -1
  if g.refill > 0 and 2 * cost * MILLION + kept <= 2 * g.capacity * MILLION then again = ceilDiv(short, 2 * g.refill) end
  return { TOKENS, again, CLOSED, max(left, 0), cost, floor(kept / 2) }
end

local function give(n)
  refill()
  s.missing = max(s.missing - n * MILLION, 0)
end

local function slotRefuses()
  if r.slot == 0 or g.slots == 0 then return nil end
  s.slots = expire(s.slots)
  if #s.slots < g.slots then return nil end
  return { SLOTS, -1, CLOSED, #s.slots, g.slots, 0 }
end

local function takeSlot(pass)
  if r.slot == 0 or g.slots == 0 then return end
  pass.slot = 1
  s.slots[#s.slots + 1] = { r.id, now + LEASE }
end

local function adaptiveRefuses()
  if g.adaptive == 0 then return nil end
  local succeeded, outcomes = 0, #s.recent
  for _, ok in ipairs(s.recent) do succeeded = succeeded + ok end
  local attempts = g.attempts
  if attempts == 0 then attempts = 10 end
  local limit = attempts
  if outcomes >= ENOUGH and 10 * succeeded <= 9 * outcomes then
    limit = 1
    if 2 * succeeded >= outcomes then
      limit = 1 + floor((attempts - 1) * (2 * succeeded - outcomes) * 5 / (4 * outcomes))
    end
  end
  if r.attempt <= limit then return nil end
  return { ADAPTIVE, -1, CLOSED, succeeded, outcomes, limit }
end

-- The operations (guard.go).

local function withdraw(t)
  if t.budget == 1 and g.budget == 1 then takeBack(s.budget, 2, t.at) end
  if t.cost > 0 and g.capacity > 0 then give(t.cost) end
end

local function spend()
  local taken = { at = now, budget = 0, cost = 0 }
  local refusal
  if g.budget == 1 then
    refusal = budgetRefuses(window(s.budget, g.width))
    if refusal then return refusal end
  end
  if g.capacity > 0 then
    local cost = r.timedOut == 1 and g.timeoutCost or g.cost
    refusal = take(cost)
    if refusal then return refusal end
    taken.cost = cost
  end
  if g.budget == 1 then
    taken.budget = 1
    count(s.budget, 2)
  end
  return nil, taken
end

local function enterAll()
  local pass = { id = r.id, generation = 0, place = 0, slot = 0 }
  takeSlot(pass)
  enter(pass)
  return pass
end

local function permit()
  local refusal = breakerRefuses() or adaptiveRefuses()
  if refusal then return refusal end
  return spend()
end

local function admit()
  local refusal = slotRefuses()
  if refusal and r.waiting == 1 then
    local open = breakerRefuses()
    if not open or open[3] ~= OPEN then return refusal end
    refusal = open
  end
  if not refusal then refusal = breakerRefuses() end
  if refusal then
    withdraw(r.taken)
    return refusal
  end
  local pass = enterAll()
  if g.budget == 1 and r.attempt == 1 then
    window(s.budget, g.width)
    count(s.budget, 1)
  end
  return nil, nil, pass
end

local function admitCopy()
  local _, closed = breakerRefuses()
  if closed then
    closed[2] = max(closed[2], 0)
    return closed
  end
  local refusal, taken = spend()
  if refusal then return refusal end
  refusal = slotRefuses()
  if refusal then
    withdraw(taken)
    return refusal
  end
  return nil, taken, enterAll()
end

local function report()
  if named and r.pass.generation == s.generation then
    if s.circuit == HALF_OPEN then
      probed()
    elseif s.circuit == CLOSED and r.outcome > 0 then
      breakerOutcome()
    end
  end
  if g.adaptive == 1 and r.outcome > 0 and r.pass.generation >= s.forgot then
    s.recent[#s.recent + 1] = r.outcome == SUCCESS and 1 or 0
    if #s.recent > RECENT then table.remove(s.recent, 1) end
  end
  if r.pass.slot == 1 then s.slots = release(s.slots, r.pass.id) end
end

local function renew()
  if r.pass.place == 1 then
    s.probes = expire(s.probes)
    for _, l in ipairs(s.probes) do
      if l[1] == r.pass.id then
        l[2] = now + LEASE
        break
      end
    end
  end
  if r.pass.slot == 1 then
    s.slots = release(s.slots, r.pass.id)
    s.slots[#s.slots + 1] = { r.pass.id, now + LEASE }
  end
end

local function finish()
  if g.capacity > 0 and r.succeeded == 1 then
    give(r.attempt <= 1 and g.success or r.taken.cost)
  end
  if r.pass.slot == 1 then s.slots = release(s.slots, r.pass.id) end
end

local function reset()
  local before = s
  s = fresh()
  s.generation, s.slots, s.keep = before.generation, before.slots, before.keep
  change(CLOSED)
  s.used, s.forgot = now, s.generation
end

local function keep()
  local longest = DAY
  if named then longest = max(longest, 2 * g.window, LONGEST * g.open) end
  if g.budget == 1 then longest = max(longest, 2 * g.width) end
  if g.capacity > 0 and g.refill > 0 then longest = max(longest, ceilDiv(s.missing, g.refill)) end
  return longest
end

s.opened, s.stamp, s.forgot = min(s.opened, now), min(s.stamp, now), min(s.forgot, now)
clampLeases(s.probes, LEASE)
clampLeases(s.slots, LEASE)
s.used, s.keep = now, max(s.keep, keep())
local from = s.circuit
local refusal, taken, pass
if op == PERMIT then
  refusal, taken = permit()
elseif op == ADMIT then
  refusal, taken, pass = admit()
elseif op == ADMIT_COPY then
  refusal, taken, pass = admitCopy()
elseif op == REPORT then
  report()
elseif op == RENEW then
  renew()
elseif op == WITHDRAW then
  withdraw(r.taken)
elseif op == FINISH then
  finish()
elseif op == RESET then
  reset()
end
s.keep = max(s.keep, keep())
if known or op ~= RESET then redis.call('SET', KEYS[1], write(s), 'PX', string.format('%.0f', s.keep)) end

refusal = refusal or { 0, 0, 0, 0, 0, 0 }
taken = taken or { at = 0, budget = 0, cost = 0 }
pass = pass or { id = 0, generation = 0, place = 0, slot = 0 }
return { now, from, s.circuit, damaged, refusal[1], refusal[2], refusal[3], refusal[4], refusal[5], refusal[6],
  taken.at, taken.budget, taken.cost, pass.id, pass.generation, pass.place, pass.slot }
