-- fragment: lane_not_leased
-- These columns of a lane say which owner leases the lane, and which changes the lease covers.
owner = NULL, leased_at = NULL, lease_until = NULL, leased_end = NULL, leased_count = NULL, leased_key = NULL

-- name: leases_lock
SELECT c.name, c.policy, c.lanes, l.pos, l.leased_end, l.leased_count, l.attempts, l.leased_key
FROM skua.consumer_lanes AS l
JOIN skua.consumers AS c ON c.id = l.consumer_id
WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4 AND l.epoch = $3::int8 AND l.owner = $4::text
FOR UPDATE OF l;

-- name: leases_release
UPDATE skua.consumer_lanes
SET {{lane_not_leased}}
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_move
UPDATE skua.consumer_lanes
SET pos = $3, served_at = clock_timestamp(), batch = CASE WHEN batch < 1000000 THEN batch * 2 END, {{lane_succeeded}}
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: leases_take
UPDATE skua.consumer_lanes
SET epoch = $3::int8, owner = $4::text, leased_at = clock_timestamp(),
  lease_until = clock_timestamp() + $5::int8 * interval '1 millisecond',
  leased_key = $6::int8, leased_end = $7::int8, leased_count = 0
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_note_batch
UPDATE skua.consumer_lanes
SET leased_end = $3::int8, leased_count = $4::int4
WHERE consumer_id = $1::int4 AND lane = $2::int4
RETURNING lease_until, greatest(extract(epoch FROM lease_until - clock_timestamp()) * 1000, 0)::int8;

-- name: leases_one_at_a_time
-- One session at a time chooses a lane of a consumer whose lanes may not all be leased, so that leases_choose, whose snapshot
-- begins after this statement, sees the leases of all earlier ones.
SELECT pg_advisory_xact_lock(1936422153, c.id)
FROM skua.consumers AS c
WHERE c.id = $1::int4 AND c.lanes > $2::int4;

-- name: leases_choose
-- Chooses the lane that has waited longest, among the lanes with changes that are due. w has the oldest waiting changes of an
-- account that are due. An account has one batch at a time, so its oldest changes come first. After a change of the number of lanes
-- they can lie ahead of the lane, which passes them first. $9 is the number of lanes that may be leased at the same time. The last
-- two columns describe a lease that has expired: its owner, and whether it counts as an attempt. It does not if the process of the
-- owner, whose token is the end of the owner, has opened its session with the role of this session again since then. $11 has the moves
-- of groups whose changes may be leased; null: all.
SELECT l.lane, c.lanes, l.epoch + 1, l.pos, e.log_end, d.is_due, least(coalesce(l.batch, p.batch), p.batch),
  w.actor_id, w.pos, coalesce(w.until, l.pos), least(coalesce(w.batch, p.batch), p.batch), w.served_at <= l.served_at,
  l.owner, coalesce(l.leased_count > 0
    AND l.leased_at > greatest(pg_postmaster_start_time(), clock_timestamp() - $10::int8 * interval '1 millisecond')
    AND NOT EXISTS (
      SELECT FROM pg_stat_activity AS a
      WHERE right(a.application_name, 22) = right(l.owner, 22)
        AND split_part(a.application_name, ' pid ', 1) = split_part(current_setting('application_name'), ' pid ', 1)
        AND a.backend_start > l.leased_at
    ), false)
FROM (
  SELECT least(skua.change_log_end(), (
    SELECT min(m.arrived_pos) FROM skua.group_moves AS m WHERE m.number <> ALL (string_to_array($11, ',')::int8[]))) AS log_end
  WHERE NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
) AS e
CROSS JOIN skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
{{tuning}}
CROSS JOIN LATERAL (
  SELECT l.pos < e.log_end
    AND (l.retry_at IS NULL OR l.retry_at <= clock_timestamp())
    AND ($8::boolean
      OR l.served_at + p.pause * interval '1 millisecond' <= clock_timestamp()
      OR e.log_end - l.pos >= p.batch) AS is_due
) AS d
LEFT JOIN LATERAL (
  SELECT v.* FROM skua.waiting_changes AS v
  WHERE v.consumer_id = c.id AND v.lane = l.lane AND v.is_open
    AND (v.retry_at IS NULL OR v.retry_at <= clock_timestamp())
    AND (v.until IS NOT NULL OR v.pos <= l.pos)
    AND NOT EXISTS (
      SELECT FROM skua.waiting_changes AS o
      WHERE o.consumer_id = c.id AND o.lane = l.lane AND o.actor_id = v.actor_id AND o.pos < v.pos
    )
  ORDER BY v.served_at, v.pos
  LIMIT 1
) AS w ON true
WHERE c.id = $7 AND c.kind <> 'projection' AND c.state = 'running' AND c.role = 'live' AND NOT c.paused
  AND NOT l.is_blocked
  AND (l.lease_until IS NULL OR l.lease_until <= clock_timestamp())
  AND (d.is_due OR w.pos IS NOT NULL)
  AND $9::int4 > (
    SELECT count(*)
    FROM skua.consumer_lanes AS o
    WHERE o.consumer_id = c.id AND o.lease_until > clock_timestamp()
  )
ORDER BY l.served_at
LIMIT 1
FOR UPDATE OF l SKIP LOCKED;

-- name: leases_count_expiry
UPDATE skua.consumer_lanes SET lease_expiries = lease_expiries + 1 WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_timeline
SELECT coalesce(
  (
    SELECT d.timeline
    FROM skua.consumer_lanes AS l
    JOIN skua.waiting_changes AS w ON w.consumer_id = l.consumer_id AND w.lane = l.lane AND w.actor_id = l.leased_key
    JOIN skua.dead_letter AS d ON d.id = w.letter_id AND d.pos = w.pos AND d.status = 'requested'
      AND d.payload IS NOT NULL
    WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4 AND l.epoch = $3::int8 AND l.owner = $4::text
    ORDER BY w.pos
    LIMIT 1
  ), s.timeline)
FROM skua.change_log_state AS s;

-- name: leases_renew
UPDATE skua.consumer_lanes
SET lease_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: leases_account
SELECT c.actor_id FROM skua.changes_between($1::int8, $1::int8 + 1) AS c;

-- fragment: retry
-- The columns of t, which is a lane or waiting changes, before another attempt.
attempts = $9, batch = coalesce($10::int4, t.batch), error = $11, served_at = clock_timestamp(),
  retry_at = clock_timestamp() + interval '1 millisecond'
    * coalesce($12::int8, least(p.retry * power(2, least(greatest($9::int4 - 1, 0), 20)), p.max_retry))

-- name: leases_retry_lane
UPDATE skua.consumer_lanes AS t
SET cause = $13, {{lane_failed}}, {{retry}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND t.consumer_id = c.id AND t.lane = $8::int4;

-- name: leases_retry_waiting
UPDATE skua.waiting_changes AS t
SET {{retry}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND t.consumer_id = c.id AND t.lane = $8::int4 AND t.actor_id = $13 AND t.pos = $14;

-- name: leases_limits
SELECT p.max_attempts, p.max_retry::int8
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7;

-- name: leases_block
UPDATE skua.consumer_lanes
SET is_blocked = true, retry_at = NULL, attempts = $3, error = $4, cause = $5, batch = 1, {{lane_failed}}
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: leases_note_unreadable
-- A lane without changes has nothing to read, except the filter.
UPDATE skua.consumer_lanes
SET error = $2, cause = $3, {{lane_failed}},
  retry_at = CASE WHEN $4::int8 > 0 THEN clock_timestamp() + $4::int8 * interval '1 millisecond' END
WHERE consumer_id = $1 AND ($3 = 'filter' OR pos < skua.change_log_end());

-- name: leases_release_unread
UPDATE skua.consumer_lanes SET {{lane_not_leased}} WHERE consumer_id = $1 AND leased_count = 0;

-- name: leases_note_filter_works
UPDATE skua.consumer_lanes SET {{lane_succeeded}} WHERE consumer_id = $1 AND cause = 'filter';
