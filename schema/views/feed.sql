-- The views of posts, likes, reposts, rules of threads and quotes, and custom feeds: URIs, DIDs and handles beside the keys.
--
-- A view that is replaced keeps its columns, its grants, and the views of users that read it. Therefore new columns are at
-- the end. The planner leaves a joined table out if the query does not use its columns.

-- A null CID of a reference to a post stands for the first CID of the post (ADR 16). The look-up costs nothing if the query does
-- not use the column.

-- PostgreSQL plans a join of more than eight tables in parts (join_collapse_limit). A join with this view would then read all
-- posts. Therefore the view joins four tables, and looks up the accounts of the parent, the root and the quoted record for each row.
CREATE OR REPLACE VIEW bsky.posts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did, a.handle, t.text, string_to_array(t.langs, ' ') AS langs, t.tags, t.labels, t.facets, t.embed,
       CASE WHEN t.parent_actor IS NOT NULL THEN
         'at://' || (SELECT parent.did FROM bsky.actors parent WHERE parent.id = t.parent_actor) || '/app.bsky.feed.post/'
           || bsky.rkey_text(t.parent_actor, 1, t.parent_rkey) END AS parent_uri,
       bsky.cid_text(coalesce(t.parent_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts p
         WHERE p.actor_id = t.parent_actor AND p.rkey = t.parent_rkey))) AS parent_cid,
       CASE WHEN t.root_actor IS NOT NULL THEN
         'at://' || (SELECT root.did FROM bsky.actors root WHERE root.id = t.root_actor) || '/app.bsky.feed.post/'
           || bsky.rkey_text(t.root_actor, 1, t.root_rkey) END AS root_uri,
       bsky.cid_text(coalesce(t.root_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts p
         WHERE p.actor_id = t.root_actor AND p.rkey = t.root_rkey))) AS root_cid,
       CASE WHEN t.quote_actor IS NOT NULL THEN
         'at://' || (SELECT quote.did FROM bsky.actors quote WHERE quote.id = t.quote_actor) || '/'
           || (SELECT quote_c.nsid FROM bsky.collections quote_c WHERE quote_c.id = t.quote_collection) || '/'
           || bsky.rkey_text(t.quote_actor, t.quote_collection, t.quote_rkey) END AS quote_uri,
       bsky.cid_text(coalesce(t.quote_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts p
         WHERE p.actor_id = t.quote_actor AND p.rkey = t.quote_rkey AND t.quote_collection = 1))) AS quote_cid,
       least(t.created_at, t.indexed_at) AS sort_at,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.parent_actor, t.parent_rkey, t.root_actor, t.root_rkey, t.quote_actor,
       t.quote_collection, t.quote_rkey,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.likes, 0) END AS likes,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.reposts, 0) END AS reposts,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.replies, 0) END AS replies,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.quotes, 0) END AS quotes,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_threadgate, false) END AS violates_threadgate,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_embedding_rules, false) END AS violates_embedding_rules,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.is_hidden, false) END AS is_hidden,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.has_invalid_root, false) END AS has_invalid_root,
       t.mentions, t.all_tags, t.links, t.link_hosts, t.images_without_alt, coalesce(t.has_video, false) AS has_video,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       CASE WHEN t.quote_collection = 1 THEN coalesce((
         SELECT CASE WHEN e.detached_uris @> ARRAY['at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey)]
                       THEN 'detached'
                     WHEN e.embedding_disabled AND e.actor_id <> t.actor_id THEN 'disabled' END
         FROM bsky.postgates e
         WHERE e.actor_id = t.quote_actor AND e.rkey = t.quote_rkey AND e.post_actor = e.actor_id AND e.post_rkey = e.rkey), 'shown')
         WHEN t.quote_actor IS NOT NULL THEN 'shown' END AS quote_state,
       bsky.rkey_text(t.actor_id, 1, t.rkey) AS rkey_text,
       'https://bsky.app/profile/' || a.did || '/post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS url
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.post_stats stats ON stats.actor_id = t.actor_id AND stats.rkey = t.rkey
LEFT JOIN bsky.post_rules rules ON rules.actor_id = t.actor_id AND rules.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND a.active IS NOT FALSE;
SELECT skua.comment_on_reference('posts', 'parent', 'the parent post');
SELECT skua.comment_on_reference('posts', 'root', 'the first post of the thread');
SELECT skua.comment_on_reference('posts', 'quote', 'the quoted record');
SELECT skua.comment_on_records('posts', 'app.bsky.feed.post', 'Posts',
  ' A row with a null cid is a stub: a post that another record mentions and that Skua has not seen, or a deleted post.');
COMMENT ON COLUMN bsky.posts.rev IS 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text); 0: a stub of a post that Skua has not seen.';
COMMENT ON COLUMN bsky.posts.cid IS 'SHA-256 of the block of the record (bsky.cid_text returns the CID); null: a stub.';
COMMENT ON COLUMN bsky.posts.indexed_at IS 'The time at which this version of the record was indexed; for a stub, the time at which the row was created.';
COMMENT ON COLUMN bsky.posts_view.langs IS 'The languages that the author states, as language tags.';
COMMENT ON COLUMN bsky.posts_view.has_video IS 'True if the post has a video.';
COMMENT ON COLUMN bsky.posts_view.quote_state IS 'shown: the post quotes a record. detached: the author of the quoted post removed this quote. disabled: the author of the quoted post allows no quotes by others. Null: the post quotes nothing. It follows from the postgate and needs no projection.';
COMMENT ON VIEW bsky.posts_view IS 'Posts, without stubs. Posts of inactive accounts are hidden. Compare keys and not URIs: bsky.resolve_uri returns the key of a URI.';
COMMENT ON COLUMN bsky.posts_view.sort_at IS 'The earlier one of created_at and indexed_at. Sort posts by it: it has an index.';
COMMENT ON COLUMN bsky.posts_view.likes IS 'The number of likes of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.reposts IS 'The number of reposts of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.replies IS 'The number of direct replies to the post, without those that violate the threadgate, if the projection post_rules exists. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.quotes IS 'The number of quotes of the post. Null unless the projection post_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.violates_threadgate IS 'True if the threadgate of the thread does not allow the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.violates_embedding_rules IS 'True if the postgate of the quoted post does not allow the quote. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.is_hidden IS 'True if the author of the thread hides the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.has_invalid_root IS 'True if the parent belongs to another thread than the reply states. Null unless the projection post_rules is current (bsky.is_current).';

-- Both posts of a reply in one row. A join of two posts_view on URIs compares computed texts. PostgreSQL multiplies the chances
-- of both columns of a key, and would expect one row of a join; with OFFSET it looks up each parent.
CREATE OR REPLACE VIEW bsky.replies_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did, a.handle,
       coalesce(a.handle, a.did) AS name,
       t.text, string_to_array(t.langs, ' ') AS langs,
       least(t.created_at, t.indexed_at) AS sort_at,
       'at://' || parent_a.did || '/app.bsky.feed.post/' || bsky.rkey_text(parent.actor_id, 1, parent.rkey) AS parent_uri,
       parent_a.did AS parent_did, parent_a.handle AS parent_handle,
       coalesce(parent_a.handle, parent_a.did) AS parent_name,
       parent.text AS parent_text, string_to_array(parent.langs, ' ') AS parent_langs,
       least(parent.created_at, parent.indexed_at) AS parent_sort_at,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_threadgate, false) END AS violates_threadgate,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.is_hidden, false) END AS is_hidden,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.has_invalid_root, false) END AS has_invalid_root,
       t.actor_id, t.rkey, t.parent_actor, t.parent_rkey
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
CROSS JOIN LATERAL (
  SELECT p.* FROM bsky.posts p WHERE p.actor_id = t.parent_actor AND p.rkey = t.parent_rkey AND p.cid IS NOT NULL OFFSET 0) parent
JOIN bsky.actors parent_a ON parent_a.id = t.parent_actor
LEFT JOIN bsky.post_rules rules ON rules.actor_id = t.actor_id AND rules.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND t.parent_actor IS NOT NULL
  AND a.active IS NOT FALSE
  AND parent_a.active IS NOT FALSE;
COMMENT ON VIEW bsky.replies_view IS 'Replies and their parents, if Skua has both posts. Replies and parents of inactive accounts are hidden.';
COMMENT ON COLUMN bsky.replies_view.uri IS 'The AT-URI of the reply.';
COMMENT ON COLUMN bsky.replies_view.did IS 'The DID of the author of the reply.';
COMMENT ON COLUMN bsky.replies_view.handle IS 'The handle of the author of the reply; null if it is not known.';
COMMENT ON COLUMN bsky.replies_view.name IS 'The handle of the author of the reply, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.replies_view.text IS 'The text of the reply.';
COMMENT ON COLUMN bsky.replies_view.langs IS 'The languages of the reply, as its author states them.';
COMMENT ON COLUMN bsky.replies_view.sort_at IS 'The earlier one of the times at which the reply was created and indexed. It has an index.';
COMMENT ON COLUMN bsky.replies_view.parent_uri IS 'The AT-URI of the parent.';
COMMENT ON COLUMN bsky.replies_view.parent_did IS 'The DID of the author of the parent.';
COMMENT ON COLUMN bsky.replies_view.parent_handle IS 'The handle of the author of the parent; null if it is not known.';
COMMENT ON COLUMN bsky.replies_view.parent_name IS 'The handle of the author of the parent, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.replies_view.parent_text IS 'The text of the parent.';
COMMENT ON COLUMN bsky.replies_view.parent_langs IS 'The languages of the parent, as its author states them.';
COMMENT ON COLUMN bsky.replies_view.parent_sort_at IS 'The earlier one of the times at which the parent was created and indexed.';
COMMENT ON COLUMN bsky.replies_view.violates_threadgate IS 'True if the threadgate of the thread does not allow the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.replies_view.is_hidden IS 'True if the author of the thread hides the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.replies_view.has_invalid_root IS 'True if the parent belongs to another thread than the reply states. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.replies_view.actor_id IS 'The account number of the author of the reply.';
COMMENT ON COLUMN bsky.replies_view.rkey IS 'The record key of the reply, as a number.';
COMMENT ON COLUMN bsky.replies_view.parent_actor IS 'The account of the parent (bsky.actors.id).';
COMMENT ON COLUMN bsky.replies_view.parent_rkey IS 'The record key of the parent, as a number.';

CREATE OR REPLACE VIEW bsky.quotes_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did, a.handle,
       coalesce(a.handle, a.did) AS name,
       t.text, string_to_array(t.langs, ' ') AS langs,
       least(t.created_at, t.indexed_at) AS sort_at,
       'at://' || quote_a.did || '/app.bsky.feed.post/' || bsky.rkey_text(quote.actor_id, 1, quote.rkey) AS quote_uri,
       quote_a.did AS quote_did, quote_a.handle AS quote_handle,
       coalesce(quote_a.handle, quote_a.did) AS quote_name,
       quote.text AS quote_text, string_to_array(quote.langs, ' ') AS quote_langs,
       least(quote.created_at, quote.indexed_at) AS quote_sort_at,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_embedding_rules, false) END AS violates_embedding_rules,
       t.actor_id, t.rkey, t.quote_actor, t.quote_rkey
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
CROSS JOIN LATERAL (
  SELECT p.* FROM bsky.posts p WHERE p.actor_id = t.quote_actor AND p.rkey = t.quote_rkey AND p.cid IS NOT NULL OFFSET 0) quote
JOIN bsky.actors quote_a ON quote_a.id = t.quote_actor
LEFT JOIN bsky.post_rules rules ON rules.actor_id = t.actor_id AND rules.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND t.quote_actor IS NOT NULL AND t.quote_collection = 1
  AND a.active IS NOT FALSE
  AND quote_a.active IS NOT FALSE;
COMMENT ON VIEW bsky.quotes_view IS 'Posts that quote posts, and the quoted posts, if Skua has both. Posts of inactive accounts are hidden.';
COMMENT ON COLUMN bsky.quotes_view.uri IS 'The AT-URI of the quoting post.';
COMMENT ON COLUMN bsky.quotes_view.did IS 'The DID of the author of the quoting post.';
COMMENT ON COLUMN bsky.quotes_view.handle IS 'The handle of the author of the quoting post; null if it is not known.';
COMMENT ON COLUMN bsky.quotes_view.name IS 'The handle of the author of the quoting post, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.quotes_view.text IS 'The text of the quoting post.';
COMMENT ON COLUMN bsky.quotes_view.langs IS 'The languages of the quoting post, as its author states them.';
COMMENT ON COLUMN bsky.quotes_view.sort_at IS 'The earlier one of the times at which the quoting post was created and indexed. It has an index.';
COMMENT ON COLUMN bsky.quotes_view.quote_uri IS 'The AT-URI of the quoted post.';
COMMENT ON COLUMN bsky.quotes_view.quote_did IS 'The DID of the author of the quoted post.';
COMMENT ON COLUMN bsky.quotes_view.quote_handle IS 'The handle of the author of the quoted post; null if it is not known.';
COMMENT ON COLUMN bsky.quotes_view.quote_name IS 'The handle of the author of the quoted post, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.quotes_view.quote_text IS 'The text of the quoted post.';
COMMENT ON COLUMN bsky.quotes_view.quote_langs IS 'The languages of the quoted post, as its author states them.';
COMMENT ON COLUMN bsky.quotes_view.quote_sort_at IS 'The earlier one of the times at which the quoted post was created and indexed.';
COMMENT ON COLUMN bsky.quotes_view.violates_embedding_rules IS 'True if the postgate of the quoted post does not allow the quote. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.quotes_view.actor_id IS 'The account number of the author of the quoting post.';
COMMENT ON COLUMN bsky.quotes_view.rkey IS 'The record key of the quoting post, as a number.';
COMMENT ON COLUMN bsky.quotes_view.quote_actor IS 'The account of the quoted post (bsky.actors.id).';
COMMENT ON COLUMN bsky.quotes_view.quote_rkey IS 'The record key of the quoted post, as a number.';

CREATE OR REPLACE VIEW bsky.likes_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(t.actor_id, 2, t.rkey) AS uri,
       a.did, a.handle,
       'at://' || subject.did || '/' || subject_c.nsid || '/'
         || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       bsky.cid_text(coalesce(t.subject_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts p
         WHERE p.actor_id = t.subject_actor AND p.rkey = t.subject_rkey AND t.subject_collection = 1))) AS subject_cid,
       'at://' || via.did || '/app.bsky.feed.repost/'
         || bsky.rkey_text(t.via_actor, 3, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.subject_actor, t.subject_collection, t.subject_rkey, t.via_actor, t.via_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 2, t.rkey) AS rkey_text
FROM bsky.likes t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('likes', 'subject', 'the liked record');
SELECT skua.comment_on_reference('likes', 'via', 'the repost that showed the subject to the author');
SELECT skua.comment_on_records('likes', 'app.bsky.feed.like', 'Likes of posts, feed generators and labelers');

CREATE OR REPLACE VIEW bsky.reposts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(t.actor_id, 3, t.rkey) AS uri,
       a.did, a.handle,
       'at://' || subject.did || '/' || subject_c.nsid || '/'
         || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       bsky.cid_text(coalesce(t.subject_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts p
         WHERE p.actor_id = t.subject_actor AND p.rkey = t.subject_rkey AND t.subject_collection = 1))) AS subject_cid,
       'at://' || via.did || '/app.bsky.feed.repost/'
         || bsky.rkey_text(t.via_actor, 3, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.subject_actor, t.subject_collection, t.subject_rkey, t.via_actor, t.via_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 3, t.rkey) AS rkey_text
FROM bsky.reposts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('reposts', 'subject', 'the reposted record');
SELECT skua.comment_on_reference('reposts', 'via', 'the repost that showed the subject to the author');
SELECT skua.comment_on_records('reposts', 'app.bsky.feed.repost', 'Reposts of posts');

CREATE OR REPLACE VIEW bsky.threadgates_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.threadgate/' || bsky.rkey_text(t.actor_id, 4, t.rkey) AS uri,
       a.did, a.handle,
       'at://' || post.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.post_actor, 1, t.post_rkey) AS post_uri,
       t.is_restricted, t.allow_mentioned, t.allow_following, t.allow_followers, t.allow_lists, t.hidden_replies,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.post_actor, t.post_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 4, t.rkey) AS rkey_text
FROM bsky.threadgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('threadgates', 'post', 'the first post of the thread');
SELECT skua.comment_on_records('threadgates', 'app.bsky.feed.threadgate', 'Rules for replies in a thread',
  ' A record applies only if it has the author and the key of the post.');

CREATE OR REPLACE VIEW bsky.postgates_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.postgate/' || bsky.rkey_text(t.actor_id, 5, t.rkey) AS uri,
       a.did, a.handle,
       'at://' || post.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.post_actor, 1, t.post_rkey) AS post_uri,
       t.embedding_disabled, t.detached_uris, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.post_actor, t.post_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 5, t.rkey) AS rkey_text
FROM bsky.postgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('postgates', 'post', 'the post to which the rules apply');
SELECT skua.comment_on_records('postgates', 'app.bsky.feed.postgate', 'Rules for quotes of a post',
  ' A record applies only if it has the author and the key of the post.');

CREATE OR REPLACE VIEW bsky.feed_generators_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.generator/' || bsky.rkey_text(t.actor_id, 6, t.rkey) AS uri,
       a.did, a.handle, t.service_did, t.display_name, t.description, t.description_facets, t.avatar_cid,
       coalesce(t.accepts_interactions, false) AS accepts_interactions, t.content_mode, t.labels, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 6, t.rkey) AS rkey_text,
       'https://bsky.app/profile/' || a.did || '/feed/' || bsky.rkey_text(t.actor_id, 6, t.rkey) AS url
FROM bsky.feed_generators t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('feed_generators', 'app.bsky.feed.generator', 'Custom feeds');
