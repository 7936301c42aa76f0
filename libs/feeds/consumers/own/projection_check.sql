-- name: dry_run_changes
-- Returns the last changes of the log, at most $1: the first position, and the position after the last one.
SELECT greatest(e.log_end - $1::int8, (SELECT min(l.pos) FROM skua.change_log AS l), 1), e.log_end
FROM (SELECT skua.change_log_end() AS log_end) AS e;
