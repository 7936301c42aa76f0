-- name: network_set_key
-- The key of the network, 32 random bytes.
INSERT INTO skua.number_key (key)
SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
ON CONFLICT DO NOTHING;

-- name: network_set_shift
UPDATE skua.account_groups SET group_shift = 57;

-- name: network_has_content
-- Whether the database has records, jobs or consumers of its own.
SELECT EXISTS (SELECT 1 FROM bsky.actors) OR EXISTS (SELECT 1 FROM skua.repositories)
  OR EXISTS (SELECT 1 FROM skua.cursors) OR EXISTS (SELECT 1 FROM skua.backfill_jobs)
  OR EXISTS (SELECT 1 FROM skua.backfill_hosts) OR EXISTS (SELECT 1 FROM skua.consumers);

-- name: network_overlap
-- A node that owns some of these groups, and the groups.
SELECT n.name, array_to_string(ARRAY(SELECT g FROM unnest(n.owned) AS g WHERE g = ANY (string_to_array($1, ',')::int4[])), ',')
FROM skua.nodes AS n
WHERE n.owned && string_to_array($1, ',')::int4[]
LIMIT 1;

-- name: network_insert
INSERT INTO skua.nodes (name, url, owned) VALUES ($1, $2, string_to_array($3, ',')::int4[]);

-- name: network_is_standby
SELECT pg_is_in_recovery();

-- name: network_set_url
UPDATE skua.nodes SET url = $2 WHERE name = $1;

-- name: network_delete
DELETE FROM skua.nodes WHERE name = $1;

-- name: network_clear
DELETE FROM skua.nodes;

-- name: network_last_moves
-- Runs on nodes. Returns the last move of each of these groups.
SELECT coalesce(max(m.number), 0)
FROM unnest(string_to_array($1, ',')::int4[]) AS g
LEFT JOIN skua.group_moves AS m ON g = ANY (m.groups)
GROUP BY g
ORDER BY g;

-- name: network_former_groups
-- The groups of a node, and those that have left it by moves and of which none has come back.
SELECT array_to_string(ARRAY(
  SELECT g FROM generate_series(0, 63) AS g
  WHERE g = ANY (n.owned) OR EXISTS (
    SELECT 1 FROM skua.group_moves AS m
    WHERE m.from_node = n.name AND m.phase = 'done' AND g = ANY (m.groups) AND NOT m.groups && n.owned)), ',')
FROM skua.nodes AS n
WHERE n.name = $1;

-- name: network_move
-- The move of groups that is under way.
SELECT from_node, to_node, array_to_string(groups, ',')
FROM skua.group_moves
WHERE phase NOT IN ('done', 'returned')
LIMIT 1;

-- name: network_drop_server
SELECT skua.drop_node($1::text);

-- name: network_missing
-- skua_reader may not read skua.nodes, so the groups come from the partitions of bsky.actors.
SELECT array_to_string(ARRAY(SELECT g FROM generate_series(0, 63) AS g WHERE g <> ALL (coalesce(skua.connected_groups(), '{}'))), ',');
