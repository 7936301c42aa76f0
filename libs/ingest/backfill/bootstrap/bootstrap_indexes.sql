-- fragment: bootstrap_record_tables
-- The fragment selects all tables of bsky except the tables of names, which are read for every row.
FROM pg_class AS t
  WHERE t.relnamespace = 'bsky'::regnamespace
    AND t.relkind = 'r'
    AND t.relname NOT IN ('actors', 'collections', 'rkeys')

-- name: bootstrap_tables
SELECT t.oid::regclass
{{bootstrap_record_tables}}
ORDER BY 1;

-- name: bootstrap_record
-- Indexes of constraints and unique indexes stay: the first cannot be dropped separately, and the second guarantee uniqueness.
INSERT INTO skua.dropped_indexes (name, relation, definition)
SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text, pg_get_indexdef(i.indexrelid)
FROM pg_index AS i
WHERE NOT i.indisunique AND i.indrelid IN (
  SELECT t.oid
  {{bootstrap_record_tables}}
)
RETURNING name;

-- name: bootstrap_missing
SELECT count(*) FROM skua.dropped_indexes;

-- name: bootstrap_cancel
SELECT pg_cancel_backend($1::int4);

-- name: bootstrap_next
SELECT name, definition
FROM skua.dropped_indexes
ORDER BY pg_relation_size(to_regclass(relation)) DESC NULLS LAST, name
LIMIT 1
FOR UPDATE SKIP LOCKED;

-- name: bootstrap_found
SELECT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = to_regclass($1::text);

-- name: bootstrap_forget
DELETE FROM skua.dropped_indexes WHERE name = $1::text;
