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
