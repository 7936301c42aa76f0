-- name: change_feed_state
-- skua.change_log_end() reads a partition directly, which skua_reader may not.
SELECT s.timeline, (SELECT l.pos FROM skua.change_log AS l ORDER BY l.pos LIMIT 1),
  (SELECT l.pos + l.n FROM skua.change_log AS l ORDER BY l.pos DESC LIMIT 1)
FROM skua.change_log_state AS s;

-- name: change_feed_block_at
SELECT l.pos, l.pos + l.n, l.at
FROM skua.change_log AS l
WHERE l.pos <= $1::int8
ORDER BY l.pos DESC
LIMIT 1;

-- name: change_feed_records
-- The texts of a page have a limit; the first one is always returned.
SELECT r.place::int4, r.cid, CASE WHEN r.total - octet_length(r.text) < $4::int8 THEN r.text END
FROM (
  SELECT t.place, t.cid, t.text, sum(octet_length(t.text)) OVER (ORDER BY t.place) AS total
  FROM (
    SELECT j.place, j.cid, j.record::text AS text
    FROM bsky.record_json($1::int4[], $2::int4[], $3::int8[]) AS j
  ) AS t
) AS r
ORDER BY 1;
