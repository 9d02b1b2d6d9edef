-- Votes: what each labeler says of a row, and the label that follows.

local VERDICT_FIELD = { ['1'] = 'inlier', ['-1'] = 'outlier', ['0'] = 'unsure' }

-- Labelers whose votes are void.
local function withdrawn_labelers(s)
  if not s.withdrawn then
    s.withdrawn = {}
    for _, labeler in ipairs(redis.call('SMEMBERS', part(s, 'withdrawn'))) do
      s.withdrawn[labeler] = true
    end
  end
  return s.withdrawn
end

-- All votes on a row in the order they were first given: {labeler, verdict, query, confidence, decides},
-- the confidence as text: "" where the labeler gave none, and absent in votes that 0.1.0 stored. A vote
-- that decides is an adjudicator's on a row whose votes came to nothing; in others it is absent.
local function load_votes(s, row)
  local text = redis.call('HGET', part(s, 'votes'), int(row))
  return text and cjson.decode(text) or {}
end

local function save_votes(s, row, votes)
  if #votes == 0 then
    redis.call('HDEL', part(s, 'votes'), int(row))
  else
    redis.call('HSET', part(s, 'votes'), int(row), cjson.encode(votes))
  end
end

-- What a labeler may do on one row after its first vote: corrections, retractions and late answers, each
-- of which stays in the log for ever.
local MOST_CORRECTIONS = 100

-- One more of them, which is logged; a refusal where there were too many, of this labeler or of all
-- (`s.most_corrections`, which the call brings; 0 for any number).
local function refuse_correction(s, row, labeler)
  local key, field, all = part(s, 'corrections'), int(row) .. ' ' .. labeler, int(row)
  local most, count = s.most_corrections, tonumber(redis.call('HGET', key, all) or 0)
  if most > 0 and count >= most then
    return refuse('TOO_MANY_EVENTS', { row = row, limit = most, used = count })
  end
  if tonumber(redis.call('HGET', key, field) or 0) >= MOST_CORRECTIONS then
    return refuse('TOO_MANY_CORRECTIONS', { labeler = labeler, row = row,
      most = MOST_CORRECTIONS })
  end
  redis.call('HINCRBY', key, field, 1)
  redis.call('HINCRBY', key, all, 1)
end

local function vote_of(votes, labeler)
  for i, vote in ipairs(votes) do
    if vote[1] == labeler then
      return vote, i
    end
  end
end

-- Whether the labeler decides where votes come to nothing. Their names stand between spaces; a session
-- without adjudicators has no such field.
local function is_adjudicator(s, labeler)
  return s.adjudicators and string.find(s.adjudicators, ' ' .. labeler .. ' ', 1, true) ~= nil
end

-- Whether the row is a control item: what is said of it is no vote.
local function is_control(s, row)
  return s.control_share and redis.call('LPOS', part(s, 'controls'), int(row)) ~= false
end

-- Votes that the overlap rule wants on a row that `q` asked about (nil: nobody was asked): `first` is
-- the first vote that counts.
local function sought(s, q, first)
  if not q then
    return 1
  end
  if s.overlap_rule == 'adaptive' and (not first or (first ~= '0'
    and (q.predicted == 0 or tonumber(first) == q.predicted))) then
    return 1
  end
  return tonumber(s.overlap)
end

-- What the votes on a row come to: its label or nil, how many votes are wanted in all, how many there
-- are, and whether an adjudicator is to give the next one. Where fewer are there than wanted the query is
-- open.
local function judge(s, votes, q, withdrawn)
  local count, inlier, outlier, first, decided = 0, 0, 0, nil, nil
  for _, vote in ipairs(votes) do
    if not withdrawn[vote[1]] then
      count = count + 1
      decided = vote[5] and vote[2] or decided
      first = first or vote[2]
      if vote[2] == '1' then
        inlier = inlier + 1
      elseif vote[2] == '-1' then
        outlier = outlier + 1
      end
    end
  end
  if decided then
    return decided, count, count
  end
  local wanted = sought(s, q, first)
  if inlier ~= outlier then
    return inlier > outlier and '1' or '-1', wanted, count
  end
  if count < wanted then
    return nil, wanted, count
  end
  -- A tie, or nobody is sure.
  if q and count < tonumber(s.overlap_limit) then
    return nil, count + 1, count
  end
  if q and count > 0 and s.adjudicators then
    return nil, count + 1, count, true
  end
  return count > 0 and '0' or nil, wanted, count
end

-- Puts the label in force, which may be none.
local function put_label(s, row, label, n)
  local field = int(row)
  local existing = redis.call('HGET', part(s, 'labels'), field)
  local before = existing and string.match(existing, '^%S+')
  if before ~= label then
    if before then
      add(s, VERDICT_FIELD[before], -1)
    end
    if label then
      add(s, VERDICT_FIELD[label], 1)
    end
  end
  if label then
    redis.call('HSET', part(s, 'labels'), field, label .. ' ' .. int(n))
  elseif before then
    redis.call('HDEL', part(s, 'labels'), field)
  end
end

-- The labeler's pace: running mean and mean deviation of its times to answer, in ms.
local function labeler_info(s, labeler)
  local text = redis.call('HGET', part(s, 'labelers'), labeler)
  return text and cjson.decode(text) or { answers = 0, last = 0, since = 0, rows = {} }
end

local function save_labeler(s, labeler, info)
  redis.call('HSET', part(s, 'labelers'), labeler, cjson.encode(info))
end

-- Jacobson's estimator: it follows the pace and tolerates its spread.
local function note_pace(info, ms)
  if not info.mean then
    info.mean, info.deviation = ms, ms / 2
  else
    local off = ms - info.mean
    info.mean = info.mean + off / 8
    info.deviation = info.deviation + (math.abs(off) - info.deviation) / 4
  end
end

-- A lease is at most this many times as long as the config's.
local LONGEST = 4

-- How long this labeler may keep a query: by its pace, between a half and four times the config's.
local function lease_length(s, info)
  local base = tonumber(s.lease_ms)
  if not info.mean then
    return base
  end
  return math.floor(math.max(base / 2, math.min(LONGEST * base, info.mean + 4 * info.deviation)))
end
