-- name: lock_try
SELECT pg_try_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k;

-- name: lock_take
SELECT pg_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k;

-- fragment: lock_owner
-- pg_locks splits the number of an advisory lock into two halves. objsubid is 1 for one 64-bit number, and 2 for two 32-bit
-- numbers.
SELECT l.pid, a.application_name, a.client_addr::text, to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS')
FROM pg_locks AS l
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: lock_record_owner
{{lock_owner}}
  AND l.objsubid = 1 AND (l.classid::int8 << 32 | l.objid::int8) = $1::int8;

-- name: lock_named_owner
{{lock_owner}}
  AND l.objsubid = 2 AND l.classid::int8 = $1::int4 AND l.objid::int8 = $2::int4;

-- name: lock_try_named
SELECT pg_try_advisory_lock($1::int4, $2::int4);

-- name: lock_try_named_xact
SELECT pg_try_advisory_xact_lock($1::int4, $2::int4);

-- name: lock_named
SELECT pg_advisory_lock($1::int4, $2::int4);

-- name: unlock_named
SELECT pg_advisory_unlock($1::int4, $2::int4);

-- name: lock_share_named
SELECT pg_advisory_lock_shared($1::int4, $2::int4);

-- name: unlock_share_named
SELECT pg_advisory_unlock_shared($1::int4, $2::int4);

-- name: lock_end_former
-- The name of a session of this process ends with the process token, which is unique (process_name).
SELECT pg_terminate_backend(l.pid)
FROM pg_locks AS l
JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
  AND l.granted
  AND l.objsubid = 2
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid::int8 = $1::int4
  AND l.objid::int8 = $2::int4
  AND l.pid <> pg_backend_pid()
  AND a.usename = current_user
  AND right(a.application_name, length($3)) = $3;
