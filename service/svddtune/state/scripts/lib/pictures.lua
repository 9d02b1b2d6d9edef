-- What people are shown of a session beside its state: its history, and pictures of cells and rows.

-- Keeps the parts that are given: cells, places and margins.
local function keep_pictures(s, pictures)
  if keeps_pictures() then
    for name, message in pairs(pictures) do
      redis.call('SET', part(s, name), message)
    end
  end
end

-- What is live now belongs to these labels: a HistoryPoint message without what the evidence has.
local function remember_moment(s, rev, point)
  if keeps_pictures() then
    redis.call('HSET', part(s, 'moments'), int(rev), int(NOW) .. ' ' .. point)
  end
end

-- Keeps the portrait of a dataset that is there, whose chunks are stored already; 0 chunks stand for none.
local function keep_portrait(dataset, chunks)
  local d = dataset_key(dataset)
  if redis.call('EXISTS', d) == 0 then
    to_chunks('UNLINK', d .. ':portrait', chunks)
  elseif chunks > 0 and keeps_pictures() then
    to_chunks('PERSIST', d .. ':portrait', chunks)
    redis.call('HSET', d, 'portrait', int(chunks))
  end
end
