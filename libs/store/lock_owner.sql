-- fragment: lock_owner
-- pg_locks splits the number of an advisory lock into two halves. objsubid 1 means one 64-bit number, 2 means two 32-bit
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
