-- The first CID of a post stays in its row, so that references to the post need no CID of their own (ADR 16). The rows that exist
-- keep their CIDs.
ALTER TABLE bsky.posts ADD COLUMN first_cid bytea;
COMMENT ON COLUMN bsky.posts.first_cid IS 'SHA-256 of the first version of the post that Skua saw, as a record or in a reference; null if it is that of cid, or if there is none. It never changes. A reference to the post with a null CID names this version.';

UPDATE skua.record_fields AS f
SET value = regexp_replace(f.value, 't\.(parent|root)_cid',
  'coalesce(t.\1_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts AS p WHERE p.actor_id = t.\1_actor AND p.rkey = t.\1_rkey))', 'g')
WHERE f.table_name = 'posts' AND f.column_name = 'parent';
