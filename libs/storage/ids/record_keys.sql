-- name: rkeys_find
SELECT k.actor_id, k.collection_id, k.rkey, r.text
FROM unnest($1::int8[], $2::int4[], $3::int8[]) AS k(actor_id, collection_id, rkey)
JOIN bsky.rkeys AS r USING (actor_id, collection_id, rkey);

-- name: rkeys_announce
INSERT INTO skua.waiting_references (account_group, actor_id, collection_id, rkey, text)
SELECT (actor_id >> $5::int4)::int4, actor_id, collection_id, rkey, text
FROM unnest($1::int8[], $2::int4[], $3::int8[], $4::text[]) AS k(actor_id, collection_id, rkey, text);

-- name: rkeys_insert
INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text)
SELECT *
FROM unnest($1::int8[], $2::int4[], $3::int8[], $4::text[])
ON CONFLICT DO NOTHING;

-- name: posts_insert_stubs
-- The insert itself finds the posts that have a row. Unlike a conflict of accounts, a conflict of posts uses no number of a
-- sequence.
INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, first_cid)
SELECT actor_id, rkey, 0, $3::timestamptz, first_cid
FROM unnest($1::int8[], $2::int8[], $4::bytea[]) AS k(actor_id, rkey, first_cid)
ON CONFLICT (actor_id, rkey) DO NOTHING
RETURNING actor_id, rkey;

-- name: posts_find
SELECT k.place - 1, p.first_cid
FROM unnest($1::int8[], $2::int8[])
WITH ORDINALITY AS k(actor_id, rkey, place)
CROSS JOIN LATERAL (
  SELECT coalesce(p.first_cid, p.cid) AS first_cid FROM bsky.posts AS p WHERE p.actor_id = k.actor_id AND p.rkey = k.rkey OFFSET 0
) AS p;

-- name: posts_have_retention
SELECT EXISTS (SELECT FROM skua.retention AS r WHERE r.collection = 'app.bsky.feed.post');
