-- name: bootstrap_missing
SELECT count(*) FROM skua.dropped_indexes;

-- name: bootstrap_cancel
SELECT pg_cancel_backend($1);

-- name: bootstrap_next
SELECT name, definition
FROM skua.dropped_indexes
ORDER BY pg_relation_size(to_regclass(relation)) DESC NULLS LAST, name
LIMIT 1
FOR UPDATE SKIP LOCKED;

-- name: bootstrap_found
SELECT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = to_regclass($1);

-- name: bootstrap_forget
DELETE FROM skua.dropped_indexes WHERE name = $1;
