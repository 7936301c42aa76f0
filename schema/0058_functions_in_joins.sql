-- Functions about a record, for an address that is a column of the query too. A comparison with a subquery that depends on
-- another row uses no index; a lateral join does. OFFSET 0 keeps the subquery in its place.
CREATE OR REPLACE FUNCTION bsky.likes_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT l.* FROM bsky.like_pairs l
    WHERE l.subject_actor = k.actor_id AND l.subject_collection = k.collection_id AND l.subject_rkey = k.rkey OFFSET 0) p
$$;

CREATE OR REPLACE FUNCTION bsky.reposts_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT r.* FROM bsky.repost_pairs r
    WHERE r.subject_actor = k.actor_id AND r.subject_collection = k.collection_id AND r.subject_rkey = k.rkey OFFSET 0) p
$$;

CREATE OR REPLACE FUNCTION bsky.replies_of(address text, all_replies boolean DEFAULT false) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT r.* FROM bsky.posts_view r WHERE r.parent_actor = k.actor_id AND r.parent_rkey = k.rkey OFFSET 0) p
  WHERE k.collection_id = 1
    AND (all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                         WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE)
$$;

CREATE OR REPLACE FUNCTION bsky.quotes_of(address text, all_quotes boolean DEFAULT false) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT q.* FROM bsky.posts_view q
    WHERE q.quote_actor = k.actor_id AND q.quote_collection = k.collection_id AND q.quote_rkey = k.rkey OFFSET 0) p
  WHERE all_quotes OR (SELECT r.violates_embedding_rules FROM bsky.post_rules r
                       WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE
$$;
