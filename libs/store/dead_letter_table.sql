-- fragment: letter_columns
-- The fields of LetterRecord (dead_letter_table.cpp), of the row d.
d.id, d.status, d.created_at, d.last_at, d.attempts, d.consumer, d.key, d.did, d.error, d.sqlstate, d.operation,
  d.payload_bytes, d.source, d.path, d.rev, d.cid, d.timeline, d.lane, d.pos, d.actor_id, d.collection_id, d.rkey,
  d.lease_owner, d.lease_until, d.finished_at, d.note

-- fragment: letter_matches
-- The row d matches LetterFilter, the parameters 1 to 6.
(cardinality($1::int8[]) = 0 OR d.id = ANY($1::int8[]))
  AND ($2::text IS NULL OR d.consumer = $2::text)
  AND ($3::text IS NULL OR d.did = $3::text)
  AND (cardinality($4::text[]) = 0 OR d.status = ANY($4::text[]))
  AND ($5::text IS NULL OR strpos(lower(d.error), lower($5::text)) > 0)
  AND coalesce(d.finished_at, d.last_at) <= clock_timestamp() - make_interval(secs => $6::int8)

-- fragment: letter_not_leased
(d.status <> 'replaying' OR d.lease_until <= clock_timestamp())

-- fragment: letter_is_dead
-- No process has handled the letter, or the lease has expired.
(d.status = 'dead' OR (d.status = 'replaying' AND d.lease_until <= clock_timestamp()))

-- fragment: letter_leased_by
-- $1: the number of the letter, $2: the lease owner.
d.id = $1 AND d.status = 'replaying' AND d.lease_owner = $2

-- name: dead_letters_list
SELECT {{letter_columns}}
FROM skua.dead_letter AS d
WHERE {{letter_matches}}
ORDER BY d.last_at DESC, d.id DESC
LIMIT $7::int8;

-- name: dead_letters_ids
SELECT d.id FROM skua.dead_letter AS d WHERE {{letter_matches}} ORDER BY d.id;

-- name: dead_letters_payload
SELECT payload FROM skua.dead_letter WHERE id = $1;

-- name: dead_letters_lease
UPDATE skua.dead_letter AS d
SET status = 'replaying', lease_owner = $2, lease_until = clock_timestamp() + make_interval(secs => $3::int8)
WHERE d.id = $1 AND d.pos IS NULL AND {{letter_is_dead}}
RETURNING {{letter_columns}};

-- name: dead_letters_resolve_replay
UPDATE skua.dead_letter AS d
SET status = 'resolved', lease_owner = NULL, lease_until = NULL, finished_at = clock_timestamp(), note = $3
WHERE {{letter_leased_by}};

-- name: dead_letters_fail_replay
UPDATE skua.dead_letter AS d
SET status = 'dead', lease_owner = NULL, lease_until = NULL, last_at = clock_timestamp(), attempts = d.attempts + 1,
  error = $3, sqlstate = nullif($4, '')
WHERE {{letter_leased_by}};

-- name: dead_letters_release
UPDATE skua.dead_letter AS d
SET status = 'dead', lease_owner = NULL, lease_until = NULL
WHERE {{letter_leased_by}};

-- name: dead_letters_request
UPDATE skua.dead_letter AS d
SET status = 'requested', lease_owner = NULL, lease_until = NULL
WHERE d.id = $1 AND d.pos IS NOT NULL AND {{letter_is_dead}};

-- name: dead_letters_finish
UPDATE skua.dead_letter AS d
SET status = $7, lease_owner = NULL, lease_until = NULL, finished_at = clock_timestamp(), note = nullif($8, '')
WHERE {{letter_matches}} AND d.finished_at IS NULL AND {{letter_not_leased}}
RETURNING d.id;

-- name: dead_letters_purge
DELETE FROM skua.dead_letter AS d WHERE {{letter_matches}} AND {{letter_not_leased}};

-- name: dead_letters_purge_finished
DELETE FROM skua.dead_letter WHERE finished_at <= clock_timestamp() - make_interval(secs => $1::int8);
