-- The layout of the data: what may be written while processes of earlier versions are there too.

-- The layout that data have where nothing is said of it.
local FIRST_LAYOUT = 3

-- What this partition may be written in: all processes that are there can read it.
local function layout_in_force()
  return tonumber(redis.call('GET', P .. 'layout') or FIRST_LAYOUT)
end

-- Whether sessions that have ended are compacted, and what is unused is known since when. Processes of
-- layout 3 would neither keep these indexes nor take a session out of them.
local function keeps_ends()
  return layout_in_force() >= 4
end

-- Whether what people are shown beside the state is kept. Processes of layout 3 would leave it behind where
-- they delete a session or a dataset.
local function keeps_pictures()
  return layout_in_force() >= 4
end
