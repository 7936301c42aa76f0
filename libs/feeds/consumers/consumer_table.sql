-- name: consumers_insert
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, overrides, definition)
SELECT $1::text, 'projection', $2::int4, $3::int4::int2, 'next', 'filling', $4::text, $5::text,
  $6::text::jsonb, nullif($7::text, '')
ON CONFLICT (name, role) WHERE role <> 'retired' DO NOTHING;

-- name: consumers_need_other_nodes
-- The key exists in a node.
SELECT EXISTS (SELECT 1 FROM skua.number_key)
  AND NOT EXISTS (SELECT 1 FROM skua.network_projections() WHERE name = $1::text AND form <> 'computed');

-- fragment: retired
-- An error of a retired consumer is that of the drop of its tables.
role = 'retired', error = NULL, retry_at = NULL

-- name: consumers_retire
UPDATE skua.consumers SET {{retired}} WHERE name = $1::text AND role <> 'retired';

-- name: consumers_pause
UPDATE skua.consumers SET paused = true WHERE name = $1::text AND role <> 'retired';

-- name: consumers_resume
-- A retired consumer waits after a failed drop of its tables.
UPDATE skua.consumers SET paused = false, retry_at = NULL WHERE name = $1::text;

-- name: consumers_retry_lanes
UPDATE skua.consumer_lanes AS l
SET retry_at = NULL
FROM skua.consumers AS c
WHERE c.id = l.consumer_id AND c.name = $1::text AND l.retry_at IS NOT NULL;

-- name: consumers_retry_waiting
UPDATE skua.waiting_changes AS w
SET retry_at = NULL
FROM skua.consumers AS c
WHERE c.id = w.consumer_id AND c.name = $1::text AND w.retry_at IS NOT NULL;

-- name: consumers_retire_failed_build
-- A failed build keeps its tables and lanes. Its consumer is retired, so that a new build can take its place. A build of a user
-- that fails is retired if $2 is another text.
UPDATE skua.consumers AS c
SET {{retired}}
WHERE c.name = $1::text
  AND c.role = 'next'
  AND (
    c.state IN ('stopped', 'lagged out')
    OR c.state = 'filling' AND c.error IS NOT NULL AND c.definition <> $2::text
    OR EXISTS (SELECT 1 FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.is_blocked));

-- name: consumers_rebuild
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, overrides, definition)
SELECT name, kind, $2::int4, CASE WHEN $4::boolean THEN lanes ELSE 1 END, 'next', 'filling', policy, profile, overrides,
  nullif($3::text, '')
FROM skua.consumers
WHERE name = $1::text
ORDER BY id DESC
LIMIT 1
ON CONFLICT (name, role) WHERE role <> 'retired' DO NOTHING;

-- name: consumers_is_live
SELECT EXISTS (SELECT 1 FROM skua.consumers WHERE name = $1::text AND role = 'live');

-- name: consumers_skip
-- A lane that work of a queue stopped has no failed attempt of its change.
UPDATE skua.consumer_lanes AS l
SET pos = l.pos + 1, batch = NULL, is_blocked = false, epoch = l.epoch + 1, {{lane_not_leased}}, {{lane_succeeded}}
FROM skua.consumer_lanes AS f
JOIN skua.consumers AS c ON c.id = f.consumer_id
WHERE c.name = $1::text AND c.role <> 'retired' AND f.pos = $2::int8 AND f.is_blocked AND f.attempts > 0
  AND l.consumer_id = f.consumer_id AND l.lane = f.lane
RETURNING f.lane::int4, coalesce(f.error, '');

-- name: consumers_run_again
UPDATE skua.consumers SET state = 'running', error = NULL
WHERE name = $1::text AND role <> 'retired' AND state = 'stopped';

-- name: consumers_set_state
UPDATE skua.consumers SET state = $2::text, error = $3::text WHERE id = $1::int4;

-- name: consumers_continue
WITH halted AS (
  SELECT c.id FROM skua.consumers AS c
  WHERE c.name = $1 AND c.role <> 'retired'
    AND (c.state = 'stopped'
      OR EXISTS (SELECT 1 FROM skua.consumer_lanes AS b WHERE b.consumer_id = c.id AND b.is_blocked))
),
continued AS (
  UPDATE skua.consumers AS c SET state = 'running', error = NULL
  FROM halted AS h WHERE c.id = h.id AND c.state = 'stopped'
)
UPDATE skua.consumer_lanes AS l
SET batch = NULL, is_blocked = false, epoch = l.epoch + 1, {{lane_not_leased}}, {{lane_succeeded}}
FROM halted AS h
WHERE h.id = l.consumer_id
RETURNING 1;

-- name: consumers_list
-- Returns a row for each lane, and one row for a consumer without lanes. $1 and $2 are the beginnings of the names of the
-- sessions that serve projections and webhooks.
SELECT c.id, c.name, c.kind, c.version, c.role, c.state, c.paused, c.policy, c.profile, c.overrides::text,
  c.filter::text, coalesce(c.url, ''), coalesce(c.error, ''),
  CASE WHEN c.kind = 'projection' THEN e.has_projections ELSE e.has_webhooks END, e.has_bootstrap,
  (extract(epoch FROM clock_timestamp() - c.created_at) * 1000)::int8,
  coalesce(d.letters, 0),
  e.log_end - least(l.pos, l.waiting_pos),
  CASE WHEN least(l.pos, l.waiting_pos) < e.log_end THEN
    (extract(epoch FROM clock_timestamp() - (
      SELECT b.at FROM skua.change_log AS b WHERE b.pos <= least(l.pos, l.waiting_pos) ORDER BY b.pos DESC LIMIT 1
    )) * 1000)::int8
  END,
  l.lane, l.pos, least(l.pos, l.waiting_pos), l.attempts, coalesce(l.error, ''), l.is_blocked,
  (
    SELECT count(*) FROM skua.waiting_changes AS w
    WHERE w.consumer_id = l.consumer_id AND w.lane = l.lane AND w.until IS NULL
  ),
  CASE WHEN l.retry_at > clock_timestamp() THEN (extract(epoch FROM l.retry_at - clock_timestamp()) * 1000)::int8 END,
  l.failing_since, (extract(epoch FROM clock_timestamp() - l.failing_since) * 1000)::int8, l.failures,
  coalesce(l.cause, ''), coalesce(l.lease_until > clock_timestamp(), false),
  coalesce(l.lease_until < clock_timestamp() - interval '1 minute', false),
  coalesce(left(l.owner, 8), ''), l.lease_until,
  (extract(epoch FROM l.lease_until - clock_timestamp()) * 1000)::int8,
  coalesce(p.help, ''), c.definition IS NOT NULL,
  coalesce((SELECT max(n.version) FROM skua.projections AS n WHERE n.name = p.name), 0),
  coalesce(l.lease_expiries, 0)
FROM (
  SELECT skua.change_log_end() AS log_end, EXISTS (SELECT 1 FROM skua.dropped_indexes) AS has_bootstrap,
    -- A standby does not see the sessions of its primary.
    pg_is_in_recovery() OR EXISTS (
      SELECT FROM pg_stat_activity AS s
      WHERE s.datname = current_database() AND starts_with(s.application_name, $1::text || ' ')
    ) AS has_projections, pg_is_in_recovery() OR EXISTS (
      SELECT FROM pg_stat_activity AS s
      WHERE s.datname = current_database() AND starts_with(s.application_name, $2::text || ' ')
    ) AS has_webhooks
) AS e
CROSS JOIN skua.consumers AS c
LEFT JOIN (
  SELECT t.consumer, count(*) AS letters
  FROM skua.dead_letter AS t
  WHERE t.status = 'dead' AND t.pos IS NOT NULL
  GROUP BY t.consumer
) AS d ON d.consumer = c.name
LEFT JOIN skua.projections AS p ON p.sha256 = c.definition
LEFT JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
WHERE c.role <> 'retired'
ORDER BY c.name, c.role, c.id, l.lane;

-- name: consumers_undropped
SELECT c.id, c.name, c.kind, c.version, c.policy, c.profile, c.overrides::text, c.error, coalesce(c.definition, '')
FROM skua.consumers AS c
WHERE c.role = 'retired' AND c.error IS NOT NULL
ORDER BY c.name, c.id;

-- name: consumers_lock
-- The lock lets one command about consumers run at a time. A command waits for the lock only for a moment. Reads and updates of
-- rows do not wait for the lock.
LOCK TABLE skua.consumers IN SHARE UPDATE EXCLUSIVE MODE;

-- name: consumers_exists
SELECT EXISTS (SELECT 1 FROM skua.consumers WHERE name = $1::text AND role <> 'retired');
