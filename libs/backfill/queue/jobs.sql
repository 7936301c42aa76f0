-- The queued jobs of each kind of place, with the conditions of the partial indexes.

-- fragment: queued_at_host
state = 'queued' AND file IS NULL AND host IS NOT NULL

-- fragment: queued_without_host
state = 'queued' AND file IS NULL AND host IS NULL

-- fragment: queued_with_file
state = 'queued' AND file IS NOT NULL

-- fragment: rare_delay
-- The seconds that an unavailable or failed job j waits: a day, twice as long each time, 30 days at most, with a random
-- quarter more or less.
least(86400 * 2 ^ least(j.retries, 10), 2592000) * (0.75 + random() / 2)

-- fragment: owner_has_ended
-- The lease owner of a job or of a list has no session: its process has ended, or lost its connections.
NOT EXISTS (
  SELECT 1 FROM pg_stat_activity AS s
  WHERE s.datname = current_database() AND s.application_name = lease_owner
)
