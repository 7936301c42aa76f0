-- name: database_state
-- $1 is the maximum number of dead letters that are counted.
SELECT current_setting('transaction_read_only') = 'on',
  (SELECT coalesce(max(version), 0) FROM skua.migrations),
  (SELECT count(*) FROM (SELECT 1 FROM skua.dead_letter_errors LIMIT $1::int8) AS l);
