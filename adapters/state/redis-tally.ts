/**
 * Changes a tally: a hash of parts, each `AMOUNT UNTIL`. Redis's own clock counts, so that replicas agree.
 * ARGV: limit or -1, most parts, how many parts leave if it is refused, their names, then part, change and milliseconds
 * for each change.
 * Returns 1, 0 (past the limit) or -1 (too many parts), the total, and when a refused change fits, or -1.
 */
export const TALLY = `local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local limit = tonumber(ARGV[1])
local parts, gone, total, count = {}, {}, 0, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local amount, till = string.match(all[i + 1], '^(%d+) (%d+)$')
  if tonumber(till) > now then
    parts[all[i]] = { tonumber(amount), tonumber(till) }
    total = total + tonumber(amount)
    count = count + 1
  else
    gone[#gone + 1] = all[i]
  end
end
local before = total
local after = {}
for i = 4 + tonumber(ARGV[3]), #ARGV, 3 do
  local name = ARGV[i]
  local part = after[name] or parts[name] or { 0, 0 }
  if not after[name] and not parts[name] then count = count + 1 end
  local amount = math.max(0, part[1] + tonumber(ARGV[i + 1]))
  total = total + amount - part[1]
  after[name] = { amount, math.max(part[2], now + tonumber(ARGV[i + 2])) }
end
if limit >= 0 and total > limit and total > before then
  for i = 4, 3 + tonumber(ARGV[3]) do
    redis.call('HDEL', KEYS[1], ARGV[i])
    parts[ARGV[i]] = nil
  end
  local living = {}
  for _, part in pairs(parts) do living[#living + 1] = part end
  table.sort(living, function(a, b) return a[2] < b[2] end)
  local excess, fits = total - limit, -1
  for _, part in ipairs(living) do
    excess = excess - part[1]
    if excess <= 0 then fits = part[2] - now break end
  end
  return { 0, string.format('%.0f', total), fits }
end
if count > tonumber(ARGV[2]) then return { -1, string.format('%.0f', count), -1 } end
for _, name in ipairs(gone) do redis.call('HDEL', KEYS[1], name) end
for name, part in pairs(after) do
  parts[name] = part
  if part[1] > 0 then
    redis.call('HSET', KEYS[1], name, string.format('%.0f %.0f', part[1], part[2]))
  else
    redis.call('HDEL', KEYS[1], name)
  end
end
local last = now
for _, part in pairs(parts) do if part[1] > 0 then last = math.max(last, part[2]) end end
if last > now then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last)) end
return { 1, string.format('%.0f', total), -1 }`;

/** What the script returns. */
export type TallyReply = readonly [outcome: number, total: string, fitsInMs: number];
