-- name: settings_find
-- During a rebuild, the values of the next consumer are the newest.
SELECT c.id, c.kind, c.lanes::int4, c.policy,
  c.state = 'stopped' OR EXISTS (SELECT FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.is_blocked)
FROM skua.consumers AS c
WHERE c.name = $1::text AND c.role <> 'retired'
ORDER BY c.id DESC
LIMIT 1;

-- name: settings_change
UPDATE skua.consumers
SET policy = coalesce($2::text, policy), profile = coalesce($3::text, profile),
  overrides = jsonb_strip_nulls(overrides || $4::text::jsonb), filter = coalesce($5::text::jsonb, filter)
WHERE name = $1::text AND role <> 'retired';

-- name: settings_change_url
UPDATE skua.consumers SET url = substring($2::text FROM '^[A-Za-z]+://[^/?#]+') WHERE id = $1::int4;

-- name: settings_change_secret
UPDATE skua.consumer_secrets
SET secret = coalesce($2::text, secret), url = coalesce($3::text, url)
WHERE consumer_id = $1::int4;

-- name: settings_retry
-- The receiver is another one, or knows another secret.
UPDATE skua.consumer_lanes SET retry_at = NULL WHERE consumer_id = $1::int4;

-- name: settings_retire_next
UPDATE skua.consumers SET {{retired}} WHERE name = $1::text AND role = 'next';

-- name: settings_rebuild
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, paused, policy, profile, overrides)
SELECT c.name, c.kind, $2::int4, $3::int4::int2, 'next', 'filling', c.paused, c.policy, c.profile, c.overrides
FROM skua.consumers AS c
WHERE c.id = $1::int4;

-- name: settings_lock_lanes
SELECT lane FROM skua.consumer_lanes WHERE consumer_id = $1::int4 ORDER BY lane FOR UPDATE;

-- name: settings_lock_waiting
-- A session that leases changes can add waiting changes without the lock of a lane. It sees the new number of lanes afterwards.
LOCK TABLE skua.waiting_changes IN SHARE ROW EXCLUSIVE MODE;

-- name: settings_change_lanes
UPDATE skua.consumers SET lanes = $2::int4::int2 WHERE id = $1::int4;

-- name: settings_move_lanes
-- A new lane has accounts of the former lanes with the same number modulo $3, the smaller number of lanes. The lanes are new
-- rows, because a session that has chosen a former lane must not find it.
WITH former AS (
  DELETE FROM skua.consumer_lanes WHERE consumer_id = $1::int4 RETURNING *
)
INSERT INTO skua.consumer_lanes (
  consumer_id, lane, pos, start, epoch, served_at, retry_at, failing_since, failures, error, cause)
SELECT $1::int4, n::int2, min(f.pos), min(f.start), max(f.epoch) + 1, min(f.served_at), max(greatest(f.retry_at, f.lease_until)),
  min(f.failing_since), max(f.failures), (array_agg(f.error ORDER BY f.failing_since))[1],
  (array_agg(f.cause ORDER BY f.failing_since))[1]
FROM generate_series(0, $2::int4 - 1) AS n
JOIN former AS f ON f.lane % $3::int4 = n % $3::int4
GROUP BY n;

-- name: settings_move_waiting
UPDATE skua.waiting_changes SET lane = actor_id & ($2::int4 - 1) WHERE consumer_id = $1::int4;

-- name: settings_move_letters
UPDATE skua.dead_letter SET lane = coalesce(actor_id, 0) & ($2::int4 - 1) WHERE consumer = $1::text AND pos IS NOT NULL;
