-- The rules of threads and quotes, for each post. The projection post_rules stores the result, and a query database computes it.
--
-- A gate counts if its account and record key are those of the post. A list counts with the items of its owner, if the gate names the
-- owner by DID: a handle can move to another account, and list items name their list by DID. A post that was never seen breaks
-- no rule, because its parent and its gate may become known later.
--
-- Subqueries that look up a table are LATERAL with OFFSET 0, because the planner then uses the index of the table.
CREATE OR REPLACE VIEW skua.judged_posts AS
SELECT p.actor_id, p.rkey, p.root_actor, p.root_rkey, p.parent_actor, p.parent_rkey,
  coalesce(g.allow_mentioned, false) AS allows_mentioned,
  coalesce(p.actor_id <> p.root_actor AND g.is_restricted AND (g.allow_followers OR g.allow_following
    OR g.allow_lists IS NOT NULL), false) AS depends_on_accounts,
  coalesce(p.actor_id <> p.root_actor AND g.is_restricted, false)
    AND NOT (g.allow_followers AND EXISTS (
      SELECT FROM bsky.follows AS f WHERE f.subject_actor = p.root_actor AND f.actor_id = p.actor_id))
    AND NOT (g.allow_following AND EXISTS (
      SELECT FROM bsky.follows AS f WHERE f.subject_actor = p.actor_id AND f.actor_id = p.root_actor))
    AND NOT (g.allow_lists IS NOT NULL AND EXISTS (
      SELECT FROM unnest(g.allow_lists[:20]) AS u(uri)
      CROSS JOIN LATERAL (SELECT l.* FROM bsky.resolve_uri(u.uri) AS l WHERE u.uri LIKE 'at://did:%'
        AND l.collection_id = 9) AS l
      CROSS JOIN LATERAL (SELECT 1 FROM bsky.list_items AS i WHERE i.list_actor = l.actor_id AND i.list_rkey = l.rkey
        AND i.subject_actor = p.actor_id AND i.actor_id = l.actor_id LIMIT 1) AS i))
    AS violates_unless_mentioned,
  CASE WHEN g.hidden_replies IS NULL THEN false
    ELSE g.hidden_replies @> ARRAY[bsky.uri(p.actor_id, 1, p.rkey)] END AS is_hidden,
  CASE WHEN e.embedding_disabled AND p.actor_id <> p.quote_actor THEN true WHEN e.detached_uris IS NULL THEN false
    ELSE e.detached_uris @> ARRAY[bsky.uri(p.actor_id, 1, p.rkey)] END AS violates_embedding_rules,
  CASE WHEN a.actor_id IS NULL OR p.root_actor IS NULL THEN false
    WHEN (p.parent_actor, p.parent_rkey) = (p.root_actor, p.root_rkey) THEN a.parent_actor IS NOT NULL
    ELSE (a.root_actor, a.root_rkey) IS DISTINCT FROM (p.root_actor, p.root_rkey) END AS has_invalid_root
FROM bsky.posts AS p
LEFT JOIN LATERAL (SELECT * FROM bsky.threadgates AS g WHERE g.actor_id = p.root_actor AND g.rkey = p.root_rkey
  AND g.post_actor = g.actor_id AND g.post_rkey = g.rkey OFFSET 0) AS g ON true
LEFT JOIN LATERAL (SELECT * FROM bsky.postgates AS e WHERE p.quote_collection = 1 AND e.actor_id = p.quote_actor
  AND e.rkey = p.quote_rkey AND e.post_actor = e.actor_id AND e.post_rkey = e.rkey OFFSET 0) AS e ON true
LEFT JOIN LATERAL (SELECT a.actor_id, a.parent_actor, a.root_actor, a.root_rkey FROM bsky.posts AS a
  WHERE a.actor_id = p.parent_actor AND a.rkey = p.parent_rkey AND a.cid IS NOT NULL OFFSET 0) AS a ON true
WHERE p.cid IS NOT NULL AND (p.root_actor IS NOT NULL OR p.quote_collection = 1);
COMMENT ON VIEW skua.judged_posts IS 'The rules that replies and quotes break now. Read bsky.post_rules instead, which also knows mentions in the first post.';
COMMENT ON COLUMN skua.judged_posts.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN skua.judged_posts.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN skua.judged_posts.root_actor IS 'The account of the first post of the thread (bsky.actors.id).';
COMMENT ON COLUMN skua.judged_posts.root_rkey IS 'The record key of the first post of the thread, as a number.';
COMMENT ON COLUMN skua.judged_posts.parent_actor IS 'The account of the parent post (bsky.actors.id).';
COMMENT ON COLUMN skua.judged_posts.parent_rkey IS 'The record key of the parent post, as a number.';
COMMENT ON COLUMN skua.judged_posts.allows_mentioned IS 'True if the threadgate allows replies by accounts that the first post mentions.';
COMMENT ON COLUMN skua.judged_posts.depends_on_accounts IS 'True if the threadgate names followers, followed accounts or lists.';
COMMENT ON COLUMN skua.judged_posts.violates_unless_mentioned IS 'True if the threadgate does not allow the author to reply, unless it allows mentioned accounts and the first post mentions the author.';
COMMENT ON COLUMN skua.judged_posts.is_hidden IS 'True if the threadgate names the reply in hiddenReplies.';
COMMENT ON COLUMN skua.judged_posts.violates_embedding_rules IS 'True if the postgate of the quoted post forbids quotes by others, or detaches this quote.';
COMMENT ON COLUMN skua.judged_posts.has_invalid_root IS 'True if the parent is known and belongs to another thread than the reply states.';
