-- fragment: ended_leases
-- Counts the leases of a table that ended a minute ago or earlier, and the seconds since the first of these ends. The statement
-- defines `leases` with the ends.
SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(ends)), 0)::int8
FROM leases
WHERE ends < clock_timestamp() - interval '1 minute'

-- name: doctor_ended_jobs
WITH leases AS (SELECT lease_until AS ends FROM skua.backfill_jobs WHERE state = 'running')
{{ended_leases}};

-- name: doctor_ended_lists
WITH leases AS (SELECT next_attempt AS ends FROM skua.backfill_hosts WHERE lease_owner IS NOT NULL)
{{ended_leases}};

-- name: doctor_ended_letters
WITH leases AS (SELECT lease_until AS ends FROM skua.dead_letter WHERE status = 'replaying')
{{ended_leases}};

-- name: doctor_ended_lanes
WITH leases AS (
  SELECT l.lease_until AS ends
  FROM skua.consumer_lanes AS l
  JOIN skua.consumers AS c ON c.id = l.consumer_id
  WHERE l.owner IS NOT NULL AND NOT c.paused AND c.role <> 'retired'
)
{{ended_leases}};
