-- name: messages_check
-- Looks for the first message behind the number $1. The values of sequences are later than the snapshot of the statement.
SELECT (SELECT i.id FROM skua.message_inbox AS i WHERE i.id > $1::int8 ORDER BY i.id LIMIT 1), n.last_value > m.last_value,
  -- Before its first number a sequence has the last value 1.
  CASE WHEN n.is_called THEN n.last_value ELSE 0 END,
  pg_snapshot_xmin(pg_current_snapshot())::text::int8
FROM skua.message_inbox_id_seq AS n, skua.message_moved AS m;

-- name: messages_transaction_id
SELECT pg_current_xact_id()::text::int8;

-- name: messages_move
SELECT skua.sequence_messages($1::int8, $2::int4, $3::int8);
