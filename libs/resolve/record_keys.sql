-- name: rkeys_find
SELECT k.actor_id, k.collection_id, k.rkey, r.text
FROM unnest($1::int8[], $2::int4[], $3::int8[]) AS k(actor_id, collection_id, rkey)
JOIN bsky.rkeys AS r USING (actor_id, collection_id, rkey);

-- name: rkeys_insert
INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text)
SELECT *
FROM unnest($1::int8[], $2::int4[], $3::int8[], $4::text[])
ON CONFLICT DO NOTHING;
