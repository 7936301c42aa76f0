-- One row for each pair of an account and what it likes, reposts or follows.

-- An account can like, repost or follow the same subject more than once. The record with the lowest key counts, which
-- is the oldest one. A condition on a column of the pair goes into the subquery and uses an index.
CREATE OR REPLACE VIEW bsky.like_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(t.actor_id, 2, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at, t.actor_id, t.rkey, t.subject_actor, t.subject_collection, t.subject_rkey
FROM (
  SELECT DISTINCT ON (l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey)
         l.actor_id, l.rkey, l.subject_actor, l.subject_collection, l.subject_rkey,
         least(l.created_at, l.indexed_at) AS sort_at
  FROM bsky.likes l
  WHERE l.subject_actor IS NOT NULL
  ORDER BY l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.like_pairs IS 'Accounts and what they like: one row for each account and subject, of active accounts. bsky.likes_of returns those of one record.';
COMMENT ON COLUMN bsky.like_pairs.did IS 'The DID of the account.';
COMMENT ON COLUMN bsky.like_pairs.name IS 'The handle of the account, or its DID if the account has no handle.';
COMMENT ON COLUMN bsky.like_pairs.uri IS 'The AT-URI of the record. If the account has several records for the subject, it is the one with the lowest key.';
COMMENT ON COLUMN bsky.like_pairs.subject_uri IS 'The AT-URI of the subject.';
COMMENT ON COLUMN bsky.like_pairs.sort_at IS 'The earlier of the times at which the record was created and indexed.';
COMMENT ON COLUMN bsky.like_pairs.actor_id IS 'The number of the account (bsky.actors.id).';
COMMENT ON COLUMN bsky.like_pairs.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.like_pairs.subject_actor IS 'The account of the subject (bsky.actors.id).';
COMMENT ON COLUMN bsky.like_pairs.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.like_pairs.subject_rkey IS 'The record key of the subject, as a number.';

CREATE OR REPLACE VIEW bsky.repost_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(t.actor_id, 3, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at, t.actor_id, t.rkey, t.subject_actor, t.subject_collection, t.subject_rkey
FROM (
  SELECT DISTINCT ON (l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey)
         l.actor_id, l.rkey, l.subject_actor, l.subject_collection, l.subject_rkey,
         least(l.created_at, l.indexed_at) AS sort_at
  FROM bsky.reposts l
  WHERE l.subject_actor IS NOT NULL
  ORDER BY l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.repost_pairs IS 'Accounts and what they reposted: one row for each account and subject, of active accounts. bsky.reposts_of returns those of one record.';
COMMENT ON COLUMN bsky.repost_pairs.did IS 'The DID of the account.';
COMMENT ON COLUMN bsky.repost_pairs.name IS 'The handle of the account, or its DID if the account has no handle.';
COMMENT ON COLUMN bsky.repost_pairs.uri IS 'The AT-URI of the record. If the account has several records for the subject, it is the one with the lowest key.';
COMMENT ON COLUMN bsky.repost_pairs.subject_uri IS 'The AT-URI of the subject.';
COMMENT ON COLUMN bsky.repost_pairs.sort_at IS 'The earlier of the times at which the record was created and indexed.';
COMMENT ON COLUMN bsky.repost_pairs.actor_id IS 'The number of the account (bsky.actors.id).';
COMMENT ON COLUMN bsky.repost_pairs.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.repost_pairs.subject_actor IS 'The account of the subject (bsky.actors.id).';
COMMENT ON COLUMN bsky.repost_pairs.subject_collection IS 'The collection of the subject (bsky.collections.id).';
COMMENT ON COLUMN bsky.repost_pairs.subject_rkey IS 'The record key of the subject, as a number.';

CREATE OR REPLACE VIEW bsky.follow_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(t.actor_id, 7, t.rkey) AS uri,
       subject.did AS subject_did,
       coalesce(subject.handle, subject.did) AS subject_name,
       t.sort_at, t.actor_id, t.rkey, t.subject_actor
FROM (
  SELECT DISTINCT ON (f.actor_id, f.subject_actor)
         f.actor_id, f.rkey, f.subject_actor, least(f.created_at, f.indexed_at) AS sort_at
  FROM bsky.follows f
  ORDER BY f.actor_id, f.subject_actor, f.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.actors subject ON subject.id = t.subject_actor
WHERE a.active IS NOT FALSE
  AND subject.active IS NOT FALSE;
COMMENT ON VIEW bsky.follow_pairs IS 'Accounts and the accounts that they follow: one row for each pair of active accounts. bsky.followers_of and bsky.follows_of return those of one account.';
COMMENT ON COLUMN bsky.follow_pairs.did IS 'The DID of the account.';
COMMENT ON COLUMN bsky.follow_pairs.name IS 'The handle of the account, or its DID if the account has no handle.';
COMMENT ON COLUMN bsky.follow_pairs.uri IS 'The AT-URI of the record. If the account has several records for the subject, it is the one with the lowest key.';
COMMENT ON COLUMN bsky.follow_pairs.subject_did IS 'The DID of the followed account.';
COMMENT ON COLUMN bsky.follow_pairs.subject_name IS 'The handle of the followed account, or its DID if the account has no handle.';
COMMENT ON COLUMN bsky.follow_pairs.sort_at IS 'The earlier of the times at which the record was created and indexed.';
COMMENT ON COLUMN bsky.follow_pairs.actor_id IS 'The number of the account (bsky.actors.id).';
COMMENT ON COLUMN bsky.follow_pairs.rkey IS 'The record key of the record, as a number.';
COMMENT ON COLUMN bsky.follow_pairs.subject_actor IS 'The number of the followed account (bsky.actors.id).';

-- The conditions are subqueries for each row, which look up keys: as joins they could read whole tables.
CREATE OR REPLACE VIEW bsky.feed_reposts AS
SELECT r.actor_id, r.rkey, least(r.created_at, r.indexed_at) AS sort_at, r.subject_actor, r.subject_rkey
FROM bsky.reposts r
WHERE r.subject_collection = 1
  -- An account can repost a post thousands of times. The search ends at the first lower key.
  AND (SELECT true FROM bsky.reposts d WHERE d.subject_actor = r.subject_actor AND d.subject_collection = r.subject_collection
         AND d.subject_rkey = r.subject_rkey AND d.actor_id = r.actor_id AND d.rkey < r.rkey LIMIT 1) IS NULL
  AND (SELECT true FROM bsky.posts p WHERE p.actor_id = r.subject_actor AND p.rkey = r.subject_rkey AND p.cid IS NOT NULL)
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.subject_actor) IS NOT FALSE
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.actor_id) IS NOT FALSE;
COMMENT ON VIEW bsky.feed_reposts IS 'The reposts that a feed shows: of active accounts, of posts that Skua has and whose author is active, each post once for each account. A repost of a post that was not seen or was deleted is left out, as in the reference AppView. Use it with a condition on actor_id.';
COMMENT ON COLUMN bsky.feed_reposts.actor_id IS 'The account that reposted (bsky.actors.id).';
COMMENT ON COLUMN bsky.feed_reposts.rkey IS 'The record key of the repost, as a number.';
COMMENT ON COLUMN bsky.feed_reposts.sort_at IS 'The earlier of the times at which the repost was created and indexed.';
COMMENT ON COLUMN bsky.feed_reposts.subject_actor IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.feed_reposts.subject_rkey IS 'The record key of the post, as a number.';

-- A list blocks only if it is a moderation list of an active account, and only the accounts that its owner added.
CREATE OR REPLACE VIEW bsky.list_block_pairs AS
SELECT b.actor_id, i.subject_actor, b.list_actor, b.list_rkey, b.rkey
FROM bsky.list_blocks b
JOIN bsky.lists l ON l.actor_id = b.list_actor AND l.rkey = b.list_rkey
JOIN bsky.actors o ON o.id = l.actor_id
JOIN bsky.list_items i ON i.list_actor = l.actor_id AND i.list_rkey = l.rkey AND i.actor_id = l.actor_id
WHERE l.purpose = 'app.bsky.graph.defs#modlist' AND o.active IS NOT FALSE;
COMMENT ON VIEW bsky.list_block_pairs IS 'Accounts and the accounts that they block by a moderation list. Use it with conditions on actor_id and subject_actor. bsky.is_blocked also considers blocks of single accounts.';
COMMENT ON COLUMN bsky.list_block_pairs.actor_id IS 'The account that blocks the list (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_block_pairs.subject_actor IS 'The account on the list (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_block_pairs.list_actor IS 'The owner of the list (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_block_pairs.list_rkey IS 'The record key of the list, as a number.';
COMMENT ON COLUMN bsky.list_block_pairs.rkey IS 'The record key of the record that blocks the list, as a number.';
