-- A repost of a record of another collection with the same key is not the first repost of a post.
CREATE OR REPLACE VIEW bsky.feed_reposts AS
SELECT r.actor_id, r.rkey, least(r.created_at, r.indexed_at) AS sort_at, r.subject_actor, r.subject_rkey
FROM bsky.reposts r
WHERE r.subject_collection = 1
  AND r.rkey = (SELECT min(d.rkey) FROM bsky.reposts d WHERE d.subject_actor = r.subject_actor
                  AND d.subject_collection = r.subject_collection AND d.subject_rkey = r.subject_rkey AND d.actor_id = r.actor_id)
  AND (SELECT p.is_deleted FROM bsky.posts p WHERE p.actor_id = r.subject_actor AND p.rkey = r.subject_rkey) IS NOT TRUE
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.subject_actor) IS NOT FALSE
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.actor_id) IS NOT FALSE;
