-- The rules of threads and posts: replies and quotes that break them.

COMMENT ON COLUMN skua.consumer_lanes.served_at IS 'The start of the last batch of a projection, or the end of the last batch of another consumer. The pause of the profile counts from it. The lane that waits longest is next.';
ALTER TABLE skua.consumer_lanes ADD has_more boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN skua.consumer_lanes.has_more IS 'True if a projection has work left that earlier changes caused. It then continues without new changes.';

-- The rule of a threadgate that names a list looks for one account on it.
DROP INDEX bsky.list_items_list;
CREATE INDEX list_items_list ON bsky.list_items (list_actor, list_rkey, subject_actor);

-- The names of kinds and roles in the change log.
CREATE FUNCTION skua.change_kind(kind int2) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (ARRAY['record', 'account', 'handle', 'label', 'bootstrap', 'rules'])[kind]
$$;
COMMENT ON FUNCTION skua.change_kind(int2) IS 'The name of a kind of changes (skua.change_log.kind).';
CREATE FUNCTION skua.reference_role(role int2) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (ARRAY['like', 'repost', 'reply', 'quote', 'follow', 'block', 'list item', 'label', 'post', 'following', 'listed'])[role]
$$;
COMMENT ON FUNCTION skua.reference_role(int2) IS 'The name of a role of references (skua.change_log.ref_role).';
COMMENT ON COLUMN skua.change_log.kind IS '1: a record. 2: the hosting status of an account. 3: the handle of an account. 4: a label. 5: the end of a bootstrap, whose records are not in the log. 6: whether a post breaks rules (bsky.post_rules).';
COMMENT ON COLUMN skua.change_log.ref_role IS 'The number of the target that the reference counts in. 1: likes. 2: reposts. 3: replies, without those that violate a threadgate. 4: quotes. 5: followers. 6: blocks. 7: items of a list. 8: labels. 11: list items with the account. The target of the next two is the author of the record. 9: posts. 10: followed accounts.';

CREATE OR REPLACE FUNCTION skua.changes(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, at timestamptz, kind text, op text, actor_id int4, collection_id int4, rkey int8, rev int8, cid bytea, val text)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + c.place - 1, b.at, skua.change_kind(c.kind),
    (ARRAY['create', 'update', 'delete'])[c.op], c.actor_id, c.collection_id, c.rkey, c.rev, c.cid, b.val[c.place]
  FROM (
    SELECT * FROM skua.change_log AS l
    WHERE l.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first)
    ORDER BY l.pos LIMIT max_blocks
  ) AS b,
  unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey, b.rev, b.cid) WITH ORDINALITY
    AS c(kind, op, actor_id, collection_id, rkey, rev, cid, place)
  WHERE b.pos + c.place - 1 >= first ORDER BY 1
$$;

CREATE OR REPLACE FUNCTION skua.change_references(first int8, max_blocks int4 DEFAULT 1000)
RETURNS TABLE (pos int8, role text, delta int2, actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 1000 AS $$
  SELECT b.pos + r.change, skua.reference_role(r.role), r.delta, r.actor_id, r.collection_id, r.rkey
  FROM (
    SELECT * FROM skua.change_log AS l
    WHERE l.pos >= coalesce((SELECT max(m.pos) FROM skua.change_log AS m WHERE m.pos <= first), first)
    ORDER BY l.pos LIMIT max_blocks
  ) AS b,
  unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, b.ref_rkey)
    AS r(change, role, delta, actor_id, collection_id, rkey)
  WHERE b.pos + r.change >= first ORDER BY 1
$$;

CREATE VIEW bsky.post_rules AS SELECT NULL::int4 AS actor_id, NULL::int8 AS rkey, NULL::int4 AS root_actor, NULL::int8 AS root_rkey, NULL::int4 AS parent_actor, NULL::int8 AS parent_rkey, NULL::boolean AS violates_threadgate, NULL::boolean AS violates_embedding_rules, NULL::boolean AS is_hidden, NULL::boolean AS has_invalid_root WHERE false;
COMMENT ON VIEW bsky.post_rules IS 'Posts that break rules, and replies for which the rules of the threadgate depend on follows or lists. Empty until `skua consumers add post_rules` has built it. A post without a row breaks no rule.';
COMMENT ON COLUMN bsky.post_rules.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.rkey IS 'The key of the post, as a number.';
COMMENT ON COLUMN bsky.post_rules.root_actor IS 'The root of the thread: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.root_rkey IS 'The root of the thread: its key, as a number.';
COMMENT ON COLUMN bsky.post_rules.parent_actor IS 'The parent of the reply: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_rules.parent_rkey IS 'The parent of the reply: its key, as a number.';
COMMENT ON COLUMN bsky.post_rules.violates_threadgate IS 'The threadgate of the root does not allow the author to reply. The reply does not count in the replies of its parent, and notifies nobody of a reply.';
COMMENT ON COLUMN bsky.post_rules.violates_embedding_rules IS 'The postgate of the quoted post forbids quotes, or detaches this one. It does not notify the author of the quoted post.';
COMMENT ON COLUMN bsky.post_rules.is_hidden IS 'The author of the thread hides the reply.';
COMMENT ON COLUMN bsky.post_rules.has_invalid_root IS 'The parent belongs to another thread than the reply states.';

COMMENT ON FUNCTION bsky.is_current(text) IS 'Returns true if a projection (post_stats, actor_stats, notifications, post_rules, tag_trends) is built and less than a minute behind. skua.consumer_progress returns its position.';
