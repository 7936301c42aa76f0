-- name: session_wal_flushed
SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8;

-- name: session_groups_version
-- The lock keeps `skua nodes move` from changing the groups until the end of the transaction.
SELECT groups_version FROM skua.database_token FOR SHARE;

-- name: session_lock_secret
-- Returns the two halves of the secret as numbers.
SELECT ('x' || encode(substr(secret, 1, 8), 'hex'))::bit(64)::int8,
  ('x' || encode(substr(secret, 9, 8), 'hex'))::bit(64)::int8
FROM skua.lock_secret;
