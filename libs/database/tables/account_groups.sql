-- name: groups_load
SELECT numbers_have_group, array_to_string(owned, ','), group_shift FROM skua.account_groups;

-- name: groups_lock
SELECT numbers_have_group, array_to_string(owned, ','), group_shift FROM skua.account_groups FOR UPDATE;

-- name: groups_set
UPDATE skua.account_groups SET owned = string_to_array($1, ',')::int4[];

-- name: groups_number_key
SELECT key FROM skua.number_key;

-- name: groups_set_key
INSERT INTO skua.number_key (key)
VALUES ($1::bytea)
ON CONFLICT (only_row) DO UPDATE SET key = EXCLUDED.key;

-- name: groups_set_shift
UPDATE skua.account_groups SET group_shift = $1::int4;

-- name: groups_used
-- A cursor or a list is enough, because events and repositories of other groups were left out before it.
SELECT EXISTS (SELECT 1 FROM bsky.actors) OR EXISTS (SELECT 1 FROM skua.repositories)
  OR EXISTS (SELECT 1 FROM skua.cursors) OR EXISTS (SELECT 1 FROM skua.backfill_jobs)
  OR EXISTS (SELECT 1 FROM skua.backfill_hosts);

-- name: groups_others
-- The other processes that write. They have read the groups already. $1 is the token of this process, with which the names of
-- its sessions end.
SELECT min(application_name)
FROM pg_stat_activity
WHERE datname = current_database()
  AND application_name ~ '^skua (run|backfill|replay|repo) '
  AND NOT application_name LIKE '%' || $1;
