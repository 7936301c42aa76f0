-- name: actors_sequence_is_behind
SELECT (SELECT coalesce(max(id), 0) FROM bsky.actors) > (SELECT last_value FROM bsky.actors_id_seq);

-- name: actors_sequence_raise
SELECT setval('bsky.actors_id_seq', max(id))
FROM bsky.actors
HAVING max(id) > (SELECT last_value FROM bsky.actors_id_seq);
