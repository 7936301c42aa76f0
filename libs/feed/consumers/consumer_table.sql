-- name: consumers_insert
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, overrides)
SELECT $1::text, 'projection', $2::int4, $3::int4::int2, 'next', 'filling', $4::text, $5::text,
  $6::text::jsonb
ON CONFLICT (name, role)
WHERE role <> 'retired' DO NOTHING;

-- name: consumers_retire
UPDATE skua.consumers SET role = 'retired' WHERE name = $1::text AND role <> 'retired';

-- name: consumers_pause
UPDATE skua.consumers SET paused = $2::boolean WHERE name = $1::text AND role <> 'retired';

-- name: consumers_retire_failed_build
-- A build that failed keeps its tables and lanes: another one takes its place.
UPDATE skua.consumers AS c
SET role = 'retired'
WHERE c.name = $1::text
  AND c.role = 'next'
  AND (
    c.state IN ('stopped', 'lagged out')
    OR EXISTS (SELECT FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.is_blocked));

-- name: consumers_rebuild
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, overrides)
SELECT name, kind, $2::int4, lanes, 'next', 'filling', policy, profile, overrides
FROM skua.consumers
WHERE name = $1::text
ORDER BY id DESC
LIMIT 1
ON CONFLICT (name, role)
WHERE role <> 'retired' DO NOTHING;

-- name: consumers_is_live
SELECT EXISTS (SELECT FROM skua.consumers WHERE name = $1::text AND role = 'live');

-- name: consumers_skip
UPDATE skua.consumer_lanes AS l
SET pos = l.pos + 1
FROM skua.consumers AS c
WHERE c.id = l.consumer_id AND c.name = $1::text AND (c.state = 'stopped' OR l.is_blocked) AND l.attempts > 0
RETURNING l.lane, l.pos - 1, coalesce(l.error, '');

-- name: consumers_set_state
UPDATE skua.consumers SET state = $2::text, error = $3::text WHERE id = $1::int4;
