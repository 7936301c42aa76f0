-- fragment: of_origin
-- $1: true for projections of users, false for built-in ones and other consumers, null for all.
($1::boolean IS NULL OR (c.definition IS NOT NULL) = $1::boolean)

-- name: consumers_next_to_build
-- A consumer without lanes must be built. A consumer with lanes has built tables, but a crash came before the consumer was set
-- to running.
SELECT c.id, c.name, coalesce(c.definition, ''), c.lanes,
  EXISTS (SELECT 1 FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id)
FROM skua.consumers AS c
WHERE c.state = 'filling'
  AND {{of_origin}}
  AND c.role = 'next'
  AND NOT c.paused
  AND (c.retry_at IS NULL OR c.retry_at <= clock_timestamp())
  AND NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
ORDER BY c.id;

-- name: consumers_must_be_built
SELECT EXISTS (SELECT 1 FROM skua.consumers AS c WHERE c.id = $1::int4 AND c.state = 'filling' AND c.role = 'next')
  AND NOT EXISTS (SELECT 1 FROM skua.consumer_lanes AS l WHERE l.consumer_id = $1::int4);

-- name: consumers_insert_lanes
-- skua.projections_of_nodes compares the moves of groups that had ended in the snapshot of the build.
INSERT INTO skua.consumer_lanes (consumer_id, lane, pos, start, counted_moves, built_during_move)
SELECT $1::int4, n::int2, e.start, e.start, m.ended, m.is_under_way
FROM (SELECT skua.change_log_end() AS start) AS e
CROSS JOIN (
  SELECT coalesce(array_agg(number ORDER BY number) FILTER (WHERE ended_at IS NOT NULL), '{}') AS ended,
    coalesce(bool_or(ended_at IS NULL), false) AS is_under_way
  FROM skua.group_moves
) AS m
CROSS JOIN generate_series(0, $2::int4 - 1) AS n;

-- name: consumers_set_running
UPDATE skua.consumers
SET state = 'running', error = NULL, retry_at = NULL
WHERE id = $1::int4 AND state = 'filling' AND role = 'next';

-- name: consumers_upkeep_failed
UPDATE skua.consumers
SET error = $2::text, retry_at = clock_timestamp() + interval '1 minute'
WHERE id = $1::int4 AND (role = 'retired' OR state IN ('filling', 'running'));

-- name: consumers_upkeep_works
UPDATE skua.consumers
SET error = NULL, retry_at = NULL
WHERE id = $1::int4 AND role = 'live' AND state = 'running' AND error IS NOT NULL;

-- name: consumers_need_owner
UPDATE skua.consumers
SET error = $1::text
WHERE state = 'filling' AND role = 'next' AND error IS DISTINCT FROM $1::text
RETURNING name;

-- name: consumers_next_to_exchange
SELECT c.id, c.name, coalesce(c.definition, ''), c.lanes
FROM skua.consumers AS c
WHERE c.role = 'next'
  AND {{of_origin}}
  AND c.state = 'running'
  AND NOT c.paused
  AND (c.retry_at IS NULL OR c.retry_at <= clock_timestamp())
  AND NOT EXISTS (SELECT 1 FROM skua.consumer_lanes AS b WHERE b.consumer_id = c.id AND b.is_blocked)
  AND (
    SELECT min(l.pos) FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id
  ) >= skua.change_log_end() - $2::int8
ORDER BY c.id;

-- name: consumers_lock_lanes
SELECT lane, pos
FROM skua.consumer_lanes
WHERE consumer_id = $1::int4
ORDER BY lane
FOR UPDATE;

-- name: consumers_log_end
SELECT skua.change_log_end();

-- name: consumers_retire_live
UPDATE skua.consumers SET {{retired}} WHERE name = $1::text AND role = 'live';

-- name: consumers_make_live
UPDATE skua.consumers
SET role = 'live', error = NULL, retry_at = NULL
WHERE id = $1::int4 AND role = 'next';

-- name: consumers_resolve_letters
-- The build of $2 read the records after the changes of these letters. A letter of the build itself is not one of them.
UPDATE skua.dead_letter AS d
SET status = 'resolved', lease_owner = NULL, lease_until = NULL, finished_at = clock_timestamp(),
  note = 'the tables were built again after this change'
FROM skua.change_log_state AS s
WHERE d.consumer = $1::text AND d.pos IS NOT NULL AND d.finished_at IS NULL
  AND (d.timeline <> s.timeline
    OR d.pos < (SELECT min(l.start) FROM skua.consumer_lanes AS l WHERE l.consumer_id = $2::int4));

-- name: consumers_waiting_lanes
SELECT lane, pos
FROM skua.consumer_lanes
WHERE consumer_id = $1::int4 AND waiting_pos IS NOT NULL
ORDER BY lane;

-- name: consumers_retired
SELECT c.id, c.name, coalesce(c.definition, ''), c.lanes
FROM skua.consumers AS c
WHERE c.role = 'retired' AND {{of_origin}} AND (c.retry_at IS NULL OR c.retry_at <= clock_timestamp())
ORDER BY c.id;

-- name: consumers_lock_retired
-- Another session may still build the tables. Its build holds the advisory lock.
SELECT
FROM skua.consumers
WHERE id = $1::int4 AND role = 'retired' AND pg_try_advisory_xact_lock(1936422147, $1::int4)
FOR UPDATE SKIP LOCKED;

-- name: consumers_delete
WITH lanes AS (DELETE FROM skua.consumer_lanes WHERE consumer_id = $1::int4),
waiting AS (DELETE FROM skua.waiting_changes WHERE consumer_id = $1::int4),
secrets AS (DELETE FROM skua.consumer_secrets WHERE consumer_id = $1::int4)
DELETE FROM skua.consumers
WHERE id = $1::int4;

-- name: consumers_live
SELECT c.id, c.lanes,
  skua.change_log_end() - (SELECT min(l.pos) FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id),
  coalesce(c.definition, ''),
  EXISTS (
    SELECT 1
    FROM skua.group_moves AS m
    JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
    WHERE m.phase <> 'returned' AND m.number <> ALL (l.counted_moves))
FROM skua.consumers AS c
WHERE c.name = $1::text AND c.role = 'live' AND c.state = 'running';
