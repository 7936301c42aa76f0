-- name: actors_draw
SELECT nextval('bsky.actors_id_seq') FROM generate_series(1, $1::int8);

-- name: actors_any_taken
SELECT EXISTS (SELECT 1 FROM bsky.actors WHERE id = ANY($1::int8[]));

-- name: actors_sequence_is_behind
SELECT coalesce(skua.newest_drawn_number() > (SELECT last_value FROM bsky.actors_id_seq), false);

-- name: actors_sequence_raise
SELECT setval('bsky.actors_id_seq', n.newest)
FROM skua.newest_drawn_number() AS n(newest)
WHERE n.newest > (SELECT last_value FROM bsky.actors_id_seq);

-- name: actors_find
SELECT id, did FROM bsky.actors WHERE did = ANY($1::text[]);

-- name: actors_with_numbers
SELECT id, did FROM bsky.actors WHERE id = ANY($1::int8[]);

-- name: actors_announce
-- A row with 200 DIDs fits into a page.
INSERT INTO skua.mentioned_accounts (dids)
SELECT array_agg(u.did)
FROM unnest($1::text[]) WITH ORDINALITY AS u(did, place)
GROUP BY (u.place - 1) / 200;

-- name: actors_insert
INSERT INTO bsky.actors (id, did, indexed_at)
OVERRIDING SYSTEM VALUE
SELECT skua.new_account_number(s.key, s.numbers_have_group, u.did), u.did, $2::timestamptz
FROM skua.number_scheme() AS s
CROSS JOIN unnest($1::text[]) AS u(did)
WHERE NOT EXISTS (SELECT 1 FROM bsky.actors AS a WHERE a.did = u.did)
ON CONFLICT (did) DO NOTHING
RETURNING id, did;

-- name: actors_newest
-- Returns the newest value of the sequence that an account has, and the greatest number. On a node, an estimate of the accounts
-- replaces the value.
SELECT coalesce(skua.newest_drawn_number(), (SELECT greatest(c.reltuples, 0)::int8 FROM pg_class AS c WHERE c.oid = 'bsky.actors'::regclass)), (SELECT coalesce(max(id), 0) FROM bsky.actors);

-- name: actors_all
SELECT id, did
FROM bsky.actors
WHERE id > $1::int8 AND id <= $2::int8
ORDER BY id
LIMIT 50000;
