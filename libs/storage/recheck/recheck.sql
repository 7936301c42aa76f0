-- name: recheck_settled
-- A change is settled after 5 seconds, because processes apply a change within two seconds. A time far in the future also
-- counts as settled, because it was stored before the clock of the server was set back.
SELECT version,
  changed_at NOT BETWEEN clock_timestamp() - interval '5 seconds' AND clock_timestamp() + interval '1 minute'
FROM skua.lexicon_state;

-- name: recheck_passes
SELECT table_name, lexicons, next_row IS NULL FROM skua.lexicon_checks;

-- name: recheck_bootstrap
SELECT EXISTS (SELECT 1 FROM skua.dropped_indexes);

-- name: recheck_begin
INSERT INTO skua.lexicon_checks AS c (table_name, lexicons, next_row, end_block, file_node, pass_at)
VALUES (
  $1::text, $2::text, '(0,0)', pg_relation_size($1::text::regclass) / current_setting('block_size')::int8,
  pg_relation_filenode($1::text::regclass), clock_timestamp())
ON CONFLICT (table_name)
DO UPDATE SET lexicons = EXCLUDED.lexicons, next_row = EXCLUDED.next_row, end_block = EXCLUDED.end_block,
  file_node = EXCLUDED.file_node, pass_at = EXCLUDED.pass_at, changed = 0
WHERE c.lexicons <> EXCLUDED.lexicons OR c.next_row IS NOT NULL AND c.file_node <> EXCLUDED.file_node;

-- name: recheck_place
SELECT next_row::text, end_block, current_setting('block_size')::int8, pg_table_size($1::text::regclass)
FROM skua.lexicon_checks
WHERE table_name = $1::text
  AND lexicons = $2::text
  AND (next_row IS NULL OR file_node = pg_relation_filenode($1::text::regclass));

-- name: recheck_lock_place
SELECT 1
FROM skua.lexicon_checks
WHERE table_name = $1::text AND lexicons = $2::text AND next_row = $3::text::tid
FOR UPDATE SKIP LOCKED;

-- name: recheck_advance
UPDATE skua.lexicon_checks
SET next_row = $2::text::tid, changed = changed + $3::int8
WHERE table_name = $1::text;
