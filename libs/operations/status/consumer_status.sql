-- name: change_log_status
-- The statement does not call skua.change_log_end(), because this function reads a partition directly, and skua_reader may not.
SELECT s.timeline, extract(epoch FROM s.retention)::int8, o.pos, o.at, n.pos + n.n, n.at
FROM skua.change_log_state AS s
LEFT JOIN LATERAL (SELECT l.pos, l.at FROM skua.change_log AS l ORDER BY l.pos LIMIT 1) AS o ON true
LEFT JOIN LATERAL (SELECT l.pos, l.n, l.at FROM skua.change_log AS l ORDER BY l.pos DESC LIMIT 1) AS n ON true;
