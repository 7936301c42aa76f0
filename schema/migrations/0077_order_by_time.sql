-- The posts and reposts that are not in the order of their keys, such as imported posts. bsky.newest_posts and
-- bsky.newest_reposts read the others by the primary key.
CREATE INDEX posts_out_of_order ON bsky.posts (actor_id, least(created_at, indexed_at))
  WHERE cid IS NOT NULL AND bsky.is_in_key_order(rkey, least(created_at, indexed_at)) IS NOT TRUE;
CREATE INDEX reposts_out_of_order ON bsky.reposts (actor_id, least(created_at, indexed_at))
  WHERE bsky.is_in_key_order(rkey, least(created_at, indexed_at)) IS NOT TRUE;
