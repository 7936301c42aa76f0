-- name: leased_insert
INSERT INTO skua.consumers (name, kind, version, lanes, role, state, policy, profile, overrides, filter, url, of_network)
SELECT $1::text, CASE WHEN $2::text = '' THEN 'pull' ELSE 'webhook' END, 1, $3::int4::int2, 'live', 'running',
  $4::text, $5::text, $6::text::jsonb, $7::text::jsonb, substring($2::text FROM '^[A-Za-z]+://[^/?#]+'), $8::boolean
RETURNING id;

-- name: leased_insert_secret
INSERT INTO skua.consumer_secrets (consumer_id, secret, url)
VALUES ($1::int4, $2::text, nullif($3::text, ''));

-- name: leased_insert_lanes
INSERT INTO skua.consumer_lanes (consumer_id, lane, pos, start)
SELECT $1::int4, n::int2, $3::int8, $3::int8
FROM generate_series(0, $2::int4 - 1) AS n;

-- name: leased_range_of_log
SELECT coalesce((SELECT b.pos FROM skua.change_log AS b ORDER BY b.pos LIMIT 1), skua.change_log_end()),
  skua.change_log_end();

-- name: leased_forget_waiting
DELETE FROM skua.waiting_changes WHERE consumer_id = $1::int4;

-- name: leased_run_again
UPDATE skua.consumers SET state = 'running', error = NULL WHERE id = $1::int4;

-- name: leased_move_lanes
UPDATE skua.consumer_lanes
SET pos = $2, start = $2, epoch = epoch + 1, batch = NULL, is_blocked = false, {{lane_not_leased}}, {{lane_succeeded}}
WHERE consumer_id = $1;

-- fragment: leased_consumers
-- The columns have the order of the fields of LeasedConsumer.
SELECT c.id, c.name, c.kind = 'webhook', c.state, c.paused, coalesce(c.error, ''), c.lanes, c.filter::text,
  coalesce(s.url, ''), s.secret, c.profile, c.overrides::text,
  EXISTS (SELECT FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.retry_at > clock_timestamp())
    OR EXISTS (SELECT FROM skua.waiting_changes AS w WHERE w.consumer_id = c.id AND w.retry_at > clock_timestamp()),
  EXISTS (SELECT FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.cause = 'filter'), c.of_network
FROM skua.consumers AS c
JOIN skua.consumer_secrets AS s ON s.consumer_id = c.id
WHERE c.role = 'live'

-- name: leased_find
{{leased_consumers}}
  AND c.name = $1;

-- name: leased_webhooks
{{leased_consumers}}
  AND c.kind = 'webhook' AND c.state = 'running' AND NOT c.paused
ORDER BY c.id;

-- name: leased_pull_consumers
{{leased_consumers}}
  AND c.kind = 'pull' AND c.state = 'running' AND NOT c.paused
ORDER BY c.id;

-- name: leased_of_network
SELECT c.name, coalesce(s.url, ''), c.filter::text, s.secret, c.lanes, c.policy, c.profile, c.overrides::text
FROM skua.consumers AS c
JOIN skua.consumer_secrets AS s ON s.consumer_id = c.id
WHERE c.of_network
ORDER BY c.name;

-- name: leased_names_of_network
SELECT name FROM skua.consumers WHERE of_network;

-- name: leased_moves
SELECT number, from_node, left_pos FROM skua.group_moves WHERE num_nonnulls(left_pos, arrived_pos) > 0;

-- name: leased_positions
SELECT c.name, min(l.pos)
FROM skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
WHERE c.kind <> 'projection' AND c.role = 'live'
GROUP BY c.name;
