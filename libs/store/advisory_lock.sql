-- name: lock_try
SELECT pg_try_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k;

-- name: lock_take
SELECT pg_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k;
