-- In the query database.

-- name: moves_under_way
SELECT number, from_node, to_node, array_to_string(groups, ','), phase
FROM skua.group_moves
WHERE phase NOT IN ('done', 'returned')
ORDER BY number
LIMIT 1;

-- fragment: ended
SELECT m.number, m.from_node, m.to_node, array_to_string(m.groups, ','), m.phase
FROM skua.group_moves AS m
JOIN skua.nodes AS f ON f.name = m.from_node
JOIN skua.nodes AS t ON t.name = m.to_node
WHERE m.phase = 'done'

-- name: moves_ended
-- The moves that have ended, of groups of which the first node owns none.
{{ended}} AND NOT f.owned && m.groups
ORDER BY m.number;

-- name: moves_partly_back
-- The moves that have ended, of groups of which the first node owns some again.
{{ended}} AND f.owned && m.groups AND NOT m.groups <@ f.owned
ORDER BY m.number;

-- name: moves_of
-- The moves of a node that have ended.
SELECT number, from_node, to_node, array_to_string(groups, ','), phase
FROM skua.group_moves
WHERE phase = 'done' AND $1 IN (from_node, to_node)
ORDER BY number;

-- name: moves_begin
INSERT INTO skua.group_moves (number, phase, from_node, to_node, groups)
SELECT coalesce(max(number), 0) + 1, 'leave', $1, $2, string_to_array($3, ',')::int4[] FROM skua.group_moves
RETURNING number;

-- name: moves_set_phase
UPDATE skua.group_moves
SET phase = $2::text, ended_at = CASE WHEN $2::text IN ('done', 'returned') THEN clock_timestamp() END
WHERE number = $1::int8;

-- name: moves_set_owners
UPDATE skua.nodes AS n
SET owned = ARRAY(
  SELECT g FROM generate_series(0, 63) AS g
  WHERE CASE WHEN g = ANY (m.groups) THEN n.name = m.to_node ELSE g = ANY (n.owned) END)
FROM skua.group_moves AS m
WHERE m.number = $1::int8;

-- name: moves_set_positions
UPDATE skua.group_moves
SET left_timeline = $2::int4, left_pos = $3::int8, arrived_timeline = $4::int4, arrived_pos = $5::int8, rows = $6::int8
WHERE number = $1::int8;

-- On a node.

-- fragment: writers
-- The sessions that may write rows of accounts, or a state that depends on the groups. The others need not end.
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
  AND a.application_name ~ '^skua '
  AND a.application_name !~ '^skua (query|export|serve|pull|page|webhooks|status|doctor|nodes|check|watch|disk|clock|stop|migrate|index|lexicon|change log|consumers)'

-- name: moves_facts
SELECT (SELECT coalesce(string_agg(source, ', ' ORDER BY source), '') FROM skua.cursors WHERE source ~ '^(relay|jetstream|tap):'),
  EXISTS (SELECT 1 FROM skua.cursors WHERE source LIKE 'tap:%'),
  EXISTS (SELECT 1 {{writers}} AND a.application_name ~ '^skua run'),
  (SELECT concat_ws(' ', collections, dids, excluded, retention) FROM skua.filter_state),
  EXISTS (SELECT 1 FROM skua.dropped_indexes),
  EXISTS (SELECT 1 FROM skua.backfill_hosts WHERE state IN ('none', 'listing') AND what NOT LIKE 'audit:%'),
  (
    SELECT min(a.usename)
    {{writers}} AND NOT pg_has_role(a.usename, 'USAGE') AND NOT pg_has_role('pg_signal_backend', 'USAGE')
  );

-- name: moves_of_node
SELECT phase, parts, parts_done, rows, left_timeline, left_pos, arrived_timeline, arrived_pos, coalesce(cursors::text, '[]')
FROM skua.group_moves
WHERE number = $1::int8;

-- name: moves_note_former
-- A move that has ended, of which this node has lost its part.
INSERT INTO skua.group_moves (number, phase, from_node, to_node, groups, ended_at)
VALUES ($1::int8, 'done', $2, $3, string_to_array($4, ',')::int4[], clock_timestamp())
ON CONFLICT (number) DO NOTHING
RETURNING number;

-- name: moves_change_version
-- Waits for each save of a cursor that is under way. Later saves of a process that does not know the new groups fail.
UPDATE skua.database_token SET groups_version = groups_version + 1;

-- name: moves_leave
UPDATE skua.account_groups SET owned = ARRAY(SELECT g FROM unnest(owned) AS g WHERE g <> ALL (string_to_array($1, ',')::int4[]) ORDER BY g);

-- name: moves_forget_cursors
DELETE FROM skua.group_cursors WHERE account_group = ANY (string_to_array($1, ',')::int4[]);

-- name: moves_take
UPDATE skua.account_groups SET owned = ARRAY(SELECT unnest(owned || string_to_array($1, ',')::int4[]) ORDER BY 1);

-- name: moves_note_leave
-- Everything up to these cursors is in the tables, because no cursor is saved until the end of this transaction.
INSERT INTO skua.group_moves (number, phase, from_node, to_node, groups, cursors)
SELECT $1::int8, 'leave', $2, $3, string_to_array($4, ',')::int4[],
  coalesce(
    (
      SELECT jsonb_agg(jsonb_build_object('source', c.source, 'cursor', c.cursor, 'event_time', c.event_time, 'ahead', (
        SELECT jsonb_object_agg(g.account_group, g.cursor) FROM skua.group_cursors AS g WHERE g.source = c.source)))
      FROM skua.cursors AS c
    ), '[]');

-- name: moves_note_arrival
INSERT INTO skua.group_moves (number, phase, from_node, to_node, groups, parts)
VALUES ($1::int8, 'copy', $2, $3, string_to_array($4, ',')::int4[], $5::int4)
ON CONFLICT (number) DO NOTHING;

-- name: moves_add_ranges
SELECT skua.add_ranges();

-- name: moves_show_ranges
SELECT skua.show_ranges();

-- name: moves_now
SELECT clock_timestamp();

-- name: moves_end_sessions
-- Returns the number of sessions that began before, and asks them to end.
SELECT count(pg_terminate_backend(a.pid))
{{writers}} AND a.backend_start < $1::timestamptz;

-- name: moves_note_left
UPDATE skua.group_moves
SET left_pos = skua.change_log_end(), left_timeline = (SELECT timeline FROM skua.change_log_state)
WHERE number = $1::int8 AND left_pos IS NULL;

-- name: moves_rewind
-- The node continues at the earlier one of its own cursor and that of the other node ($1). Each group ($2: those that arrive) has
-- the cursor of the node on which it was.
WITH other AS (
  SELECT f.* FROM jsonb_to_recordset($1::text::jsonb) AS f(source text, cursor int8, event_time timestamptz, ahead jsonb)
),
known AS (
  SELECT o.source, g.g, greatest(o.cursor, (o.ahead ->> g.g)::int8) AS cursor
  FROM other AS o, unnest(string_to_array($2, ',')) AS g(g)
  UNION ALL
  SELECT c.source, g.g::text, greatest(c.cursor, k.cursor)
  FROM skua.cursors AS c
  JOIN other AS o USING (source)
  CROSS JOIN skua.account_groups AS a
  CROSS JOIN unnest(a.owned) AS g(g)
  LEFT JOIN skua.group_cursors AS k ON k.source = c.source AND k.account_group = g.g
  WHERE g.g <> ALL (string_to_array($2, ',')::int4[])
),
rewound AS (
  INSERT INTO skua.cursors AS c (source, cursor, event_time, saved_at)
  SELECT o.source, o.cursor, o.event_time, clock_timestamp() FROM other AS o
  ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, event_time = EXCLUDED.event_time, saved_at = EXCLUDED.saved_at
  WHERE EXCLUDED.cursor < c.cursor
)
INSERT INTO skua.group_cursors (source, account_group, cursor)
SELECT k.source, k.g::int4, k.cursor
FROM known AS k
JOIN other AS o USING (source)
LEFT JOIN skua.cursors AS c USING (source)
WHERE k.cursor > least(o.cursor, c.cursor)
ON CONFLICT (source, account_group) DO UPDATE SET cursor = EXCLUDED.cursor;

-- name: moves_settle_handles
-- Two accounts of this node must not own the same handle. The newer claim keeps it, unless a look-up confirmed the other one.
-- Both are looked up again.
WITH contested AS (
  SELECT a.id, row_number() OVER (PARTITION BY a.handle ORDER BY a.handle_valid IS TRUE DESC, a.handle_time DESC NULLS LAST, a.id DESC) AS place
  FROM bsky.actors AS a
  WHERE a.handle IN (
    SELECT b.handle FROM bsky.actors AS b
    WHERE (b.id >> 57)::int4 = ANY (string_to_array($1, ',')::int4[]) AND b.handle IS NOT NULL
      AND EXISTS (SELECT 1 FROM bsky.actors AS o WHERE o.handle = b.handle AND o.id <> b.id))
)
UPDATE bsky.actors AS a
SET handle = CASE WHEN c.place = 1 THEN a.handle END, handle_check_due = least(a.handle_check_due, clock_timestamp())
FROM contested AS c
WHERE c.id = a.id;

-- name: moves_note_arrived
UPDATE skua.group_moves
SET phase = 'done', ended_at = clock_timestamp(), arrived_pos = skua.change_log_end(),
  arrived_timeline = (SELECT timeline FROM skua.change_log_state)
WHERE number = $1::int8;

-- name: moves_end_of_node
UPDATE skua.group_moves SET phase = $2::text, ended_at = clock_timestamp() WHERE number = $1::int8;

-- name: moves_part_done
UPDATE skua.group_moves SET parts_done = parts_done + 1, rows = rows + $2::int8 WHERE number = $1::int8;

-- name: moves_set_parts
UPDATE skua.group_moves SET parts = $2::int4, parts_done = 0 WHERE number = $1::int8;

-- name: moves_rows_of_group
-- An estimate, from the statistics of the tables.
SELECT (sum(greatest(c.reltuples, 0)) / (SELECT greatest(cardinality(owned), 1) FROM skua.account_groups))::int8
FROM skua.record_tables AS t
JOIN pg_class AS c ON c.oid = format('bsky.%I', t.name)::regclass;

-- name: moves_tables
-- The tables whose rows belong to the account in a column, their columns, and the values that are copied.
SELECT 'bsky.' || quote_ident(d.name), quote_ident(d.key_column),
  string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), skua.range_columns(d.name)
FROM skua.divided_tables() AS d
JOIN pg_attribute AS a ON a.attrelid = format('bsky.%I', d.name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
WHERE d.name NOT IN ('actors', 'rkeys')
GROUP BY d.name, d.key_column
ORDER BY d.name;

-- name: moves_columns
-- The columns of a table, without those of $2.
SELECT quote_ident(a.attname)
FROM pg_attribute AS a
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($2::text[])
ORDER BY a.attnum;

-- name: moves_waiting_consumer
-- A consumer that does not have all changes of the groups that have left. Their records are read from the rows.
SELECT c.name, c.kind = 'projection'
FROM skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
JOIN skua.group_moves AS m ON m.number = $1::int8
WHERE c.role = 'live' AND c.state = 'running' AND NOT c.paused
  AND least(l.pos, l.waiting_pos) < m.left_pos
ORDER BY 1
LIMIT 1;

-- name: moves_wal_position
SELECT pg_current_wal_insert_lsn()::text;

-- name: moves_late_standby
-- A role without pg_monitor does not see the positions of standbys.
SELECT coalesce(nullif(application_name, ''), host(client_addr), 'without a name')
FROM pg_stat_replication
WHERE flush_lsn < $1::text::pg_lsn
ORDER BY 1
LIMIT 1;

-- name: moves_note_wrong_sums
UPDATE skua.consumer_lanes AS l
SET built_during_move = true
FROM skua.consumers AS c
WHERE c.id = l.consumer_id AND c.kind = 'projection';

-- name: moves_projections
SELECT name FROM skua.consumers WHERE kind = 'projection' AND role = 'live' ORDER BY 1;

-- name: moves_wrong_projections
-- The projections that are wrong on both nodes until they are built again.
SELECT c.name
FROM skua.consumers AS c
WHERE c.kind = 'projection' AND c.role = 'live'
  AND (c.name NOT IN (SELECT p.name FROM skua.network_projections() AS p WHERE p.stores_only_sums)
    OR EXISTS (SELECT 1 FROM skua.consumer_lanes AS l WHERE l.consumer_id = c.id AND l.built_during_move))
ORDER BY 1;

-- name: moves_remove_posts
-- A reference without a CID relies on the row of its post (ADR 16), which then stays without content.
WITH moved AS (SELECT string_to_array($3, ',')::int4[] AS groups)
DELETE FROM bsky.posts AS p
USING moved AS m
WHERE p.actor_id BETWEEN $1::int8 AND $2::int8
  AND NOT EXISTS (
    SELECT 1 FROM bsky.likes AS r
    WHERE r.subject_actor = p.actor_id AND r.subject_rkey = p.rkey AND r.subject_collection = 1 AND r.subject_cid IS NULL
      AND (r.actor_id >> 57)::int4 <> ALL (m.groups))
  AND NOT EXISTS (
    SELECT 1 FROM bsky.reposts AS r
    WHERE r.subject_actor = p.actor_id AND r.subject_rkey = p.rkey AND r.subject_collection = 1 AND r.subject_cid IS NULL
      AND (r.actor_id >> 57)::int4 <> ALL (m.groups))
  AND NOT EXISTS (
    SELECT 1 FROM bsky.posts AS r
    WHERE r.parent_actor = p.actor_id AND r.parent_rkey = p.rkey AND r.parent_cid IS NULL AND (r.actor_id >> 57)::int4 <> ALL (m.groups))
  AND NOT EXISTS (
    SELECT 1 FROM bsky.posts AS r
    WHERE r.root_actor = p.actor_id AND r.root_rkey = p.rkey AND r.root_cid IS NULL AND (r.actor_id >> 57)::int4 <> ALL (m.groups))
  AND NOT EXISTS (
    SELECT 1 FROM bsky.posts AS r
    WHERE r.quote_actor = p.actor_id AND r.quote_rkey = p.rkey AND r.quote_collection = 1 AND r.quote_cid IS NULL
      AND (r.actor_id >> 57)::int4 <> ALL (m.groups));

-- name: moves_forget_accounts
-- What a node knows of an account of another node is its name.
UPDATE bsky.actors
SET floor_rev = 0, handle_time = NULL, status_time = NULL, active = NULL, handle = NULL, status = NULL, handle_check_due = NULL,
  handle_valid = NULL, handle_claim = NULL, handle_lookups_charged_to = NULL
WHERE id BETWEEN $1::int8 AND $2::int8
  AND (floor_rev <> 0 OR num_nonnulls(handle_time, status_time, active, handle, status, handle_check_due, handle_valid, handle_claim,
    handle_lookups_charged_to) > 0);
