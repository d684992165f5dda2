-- When values of rotated names failed last: KEYS[1] is a hash from a number that
-- stands for a value to a time in milliseconds. ARGV: what is asked, how long a
-- failure counts, the numbers. A number stays text: it may need 63 bits.
local op, span = ARGV[1], tonumber(ARGV[2])
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)

-- A time in the future was written by a clock that was wrong.
local function lately(at)
  local gone = now - (tonumber(at) or 0)
  return gone >= 0 and gone < span
end

local answer = {}
for number in string.gmatch(ARGV[3], '%d+') do
  if op == 'failed' then
    redis.call('HSET', KEYS[1], number, string.format('%.0f', now))
    answer[#answer + 1] = 1
  else
    local at = redis.call('HGET', KEYS[1], number)
    answer[#answer + 1] = at and lately(at) and 1 or 0
  end
end
if op == 'failed' then
  redis.call('PEXPIRE', KEYS[1], span)
  if redis.call('HLEN', KEYS[1]) > 200 then
    local all = redis.call('HGETALL', KEYS[1])
    for i = 1, #all, 2 do
      if not lately(all[i + 1]) then redis.call('HDEL', KEYS[1], all[i]) end
    end
  end
end
return answer
