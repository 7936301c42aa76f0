-- name: actors_draw
SELECT nextval('bsky.actors_id_seq') FROM generate_series(1, $1::int8);

-- name: actors_any_taken
SELECT EXISTS (SELECT 1 FROM bsky.actors WHERE id = ANY($1::int8[]));
