-- name: inbox_newest
SELECT i.id FROM skua.message_inbox AS i ORDER BY i.id DESC LIMIT 1;

-- name: inbox_has_until
SELECT EXISTS (SELECT FROM skua.message_inbox AS i WHERE i.id <= $1::int8);

-- name: inbox_state
-- $1 is the maximum number of messages that are counted.
SELECT (SELECT count(*) FROM (SELECT FROM skua.message_inbox AS i LIMIT $1::int8) AS c),
  coalesce((
    SELECT (extract(epoch FROM clock_timestamp() - i.enqueued_at) * 1000)::int8
    FROM skua.message_inbox AS i
    ORDER BY i.id
    LIMIT 1
  ), 0),
  EXISTS (SELECT 1 FROM skua.dropped_indexes);
