-- name: waiting_open
UPDATE skua.waiting_changes AS w
SET is_open = true, attempts = 0, retry_at = NULL, batch = NULL, error = NULL, pos = h.next
FROM (
  SELECT v.lane, v.actor_id, v.pos, CASE WHEN d.status = 'requested' THEN v.pos ELSE v.pos + 1 END AS next
  FROM skua.waiting_changes AS v
  LEFT JOIN skua.dead_letter AS d ON d.id = v.letter_id
  WHERE v.consumer_id = $1::int4
    AND NOT v.is_open
    AND coalesce(d.status, 'discarded') IN ('requested', 'resolved', 'discarded')
) AS h
WHERE w.consumer_id = $1::int4 AND (w.lane, w.actor_id, w.pos) = (h.lane, h.actor_id, h.pos);

-- name: waiting_keys
SELECT w.actor_id
FROM skua.waiting_changes AS w
WHERE w.consumer_id = $1::int4 AND w.lane = $2::int4 AND w.until IS NULL
ORDER BY w.actor_id;

-- name: waiting_read
SELECT w.pos, w.until IS NOT NULL, w.letter_id, w.attempts
FROM skua.waiting_changes AS w
WHERE w.consumer_id = $1::int4 AND w.lane = $2::int4 AND w.actor_id = $3::int8
ORDER BY w.pos
LIMIT 1
FOR UPDATE;

-- name: waiting_hold
INSERT INTO skua.waiting_changes (consumer_id, lane, actor_id, pos, letter_id, is_open)
SELECT $1::int4, $2::int4::int2, $3::int8, $4::int8, $5::int8, false
WHERE (
  SELECT count(*)
  FROM skua.waiting_changes AS w
  WHERE w.consumer_id = $1::int4 AND w.lane = $2::int4 AND w.until IS NULL
) < $6::int8;

-- name: waiting_resolve
UPDATE skua.dead_letter
SET status = 'resolved', finished_at = clock_timestamp(), note = 'replayed'
WHERE id = $1::int8 AND status = 'requested';

-- name: waiting_remove
DELETE FROM skua.waiting_changes AS w
USING skua.consumer_lanes AS l
WHERE w.consumer_id = $1::int4
  AND w.lane = $2::int4
  AND w.actor_id = $3::int8
  AND w.pos = $4::int8
  AND l.consumer_id = $1::int4
  AND l.lane = $2::int4
  AND $5::int8 >= coalesce(w.until, l.pos);

-- name: waiting_move
UPDATE skua.waiting_changes
SET pos = $5::int8, served_at = clock_timestamp(), attempts = 0, retry_at = NULL, error = NULL,
  batch = CASE WHEN batch < 1000000 THEN batch * 2 END
WHERE consumer_id = $1::int4 AND lane = $2::int4 AND actor_id = $3::int8 AND pos = $4::int8;

-- name: waiting_close
UPDATE skua.waiting_changes
SET letter_id = $5::int8, is_open = false, attempts = 0, retry_at = NULL, batch = NULL
WHERE consumer_id = $1::int4 AND lane = $2::int4 AND actor_id = $3::int8 AND pos = $4::int8;

-- name: waiting_drop
DELETE FROM skua.waiting_changes
WHERE consumer_id = $1::int4 AND lane = $2::int4 AND actor_id = $3::int8 AND pos = $4::int8;

-- name: waiting_note_loss
UPDATE skua.dead_letter
SET status = 'dead', finished_at = NULL,
  error = left(error, 2000) || format(
    '; the log does not have the changes of the account from position %s to %s any more', $2::int8, $3::int8 - 1)
WHERE id = $1::int8;

-- fragment: requested_letters
-- d has the letters whose replay was requested and that have no waiting changes.
FROM skua.dead_letter AS d
JOIN skua.consumers AS c ON c.name = d.consumer
CROSS JOIN skua.change_log_state AS s
WHERE c.id = $1 AND d.status = 'requested' AND d.pos IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM skua.waiting_changes AS w WHERE w.consumer_id = c.id AND w.letter_id = d.id)

-- fragment: log_lacks_change
-- Whether the log does not have the change of the letter d any more. s is skua.change_log_state.
(d.timeline <> s.timeline OR NOT EXISTS (SELECT 1 FROM skua.change_log AS b WHERE b.pos <= d.pos))

-- name: waiting_refuse_old
UPDATE skua.dead_letter AS t
SET status = 'dead', attempts = t.attempts + 1, last_at = clock_timestamp(),
  error = 'the log does not have the change any more'
WHERE t.id IN (
  SELECT d.id
  {{requested_letters}}
    AND d.payload IS NULL AND {{log_lacks_change}}
);

-- name: waiting_letter_change
SELECT d.timeline, d.payload
FROM skua.waiting_changes AS w
JOIN skua.dead_letter AS d ON d.id = w.letter_id AND d.pos = w.pos
CROSS JOIN skua.change_log_state AS s
WHERE w.consumer_id = $1::int4 AND w.lane = $2::int4 AND w.actor_id = $3::int8 AND w.pos = $4::int8
  AND d.status = 'requested' AND d.payload IS NOT NULL AND {{log_lacks_change}};

-- name: waiting_add_requested
INSERT INTO skua.waiting_changes (pos, until, letter_id, consumer_id, actor_id, lane, is_open)
SELECT d.pos, d.pos + 1, d.id, c.id, d.actor_id, d.actor_id & (c.lanes - 1), true
{{requested_letters}}
ORDER BY d.pos
LIMIT 1000
ON CONFLICT DO NOTHING;
