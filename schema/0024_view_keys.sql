-- The keys of what records refer to, beside each URI in the views: a comparison of a key uses the indexes, a
-- comparison of a URI's text computes the text of every row. New columns stand last, because a view that is
-- replaced keeps its columns, its grants and the views that others have made of it.

CREATE OR REPLACE VIEW bsky.posts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did,
       a.handle,
       t.text,
       t.langs,
       t.tags,
       t.labels,
       t.facets,
       t.embed,
       'at://' || parent.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.parent_actor, 1, t.parent_rkey) AS parent_uri,
       bsky.cid_text(t.parent_cid) AS parent_cid,
       'at://' || root.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.root_actor, 1, t.root_rkey) AS root_uri,
       bsky.cid_text(t.root_cid) AS root_cid,
       'at://' || quote.did || '/' || quote_c.nsid || '/'
         || bsky.rkey_text(t.quote_actor, t.quote_collection, t.quote_rkey) AS quote_uri,
       bsky.cid_text(t.quote_cid) AS quote_cid,
       least(t.created_at, t.indexed_at) AS sort_at,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.parent_actor,
       t.parent_rkey,
       t.root_actor,
       t.root_rkey,
       t.quote_actor,
       t.quote_collection,
       t.quote_rkey
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors parent ON parent.id = t.parent_actor
LEFT JOIN bsky.actors root ON root.id = t.root_actor
LEFT JOIN bsky.actors quote ON quote.id = t.quote_actor
LEFT JOIN bsky.collections quote_c ON quote_c.id = t.quote_collection
WHERE t.cid IS NOT NULL
  AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.posts_view IS 'Posts, without stubs. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.posts_view.parent_actor IS 'The post it answers: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts_view.parent_rkey IS 'The post it answers: its record key, as a number.';
COMMENT ON COLUMN bsky.posts_view.root_actor IS 'The first post of its thread: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts_view.root_rkey IS 'The first post of its thread: its record key, as a number.';
COMMENT ON COLUMN bsky.posts_view.quote_actor IS 'The record it quotes: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts_view.quote_collection IS 'The record it quotes: number of its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.posts_view.quote_rkey IS 'The record it quotes: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.likes_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(t.actor_id, 2, t.rkey) AS uri,
       a.did,
       a.handle,
       'at://' || subject.did || '/' || subject_c.nsid || '/'
         || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       bsky.cid_text(t.subject_cid) AS subject_cid,
       'at://' || via.did || '/app.bsky.feed.repost/'
         || bsky.rkey_text(t.via_actor, 3, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey,
       t.via_actor,
       t.via_rkey
FROM bsky.likes t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.likes_view IS 'Likes. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.likes_view.subject_actor IS 'What is liked: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.likes_view.subject_collection IS 'What is liked: number of its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.likes_view.subject_rkey IS 'What is liked: its record key, as a number.';
COMMENT ON COLUMN bsky.likes_view.via_actor IS 'The repost through which it was seen: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.likes_view.via_rkey IS 'The repost through which it was seen: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.reposts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(t.actor_id, 3, t.rkey) AS uri,
       a.did,
       a.handle,
       'at://' || subject.did || '/' || subject_c.nsid || '/'
         || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       bsky.cid_text(t.subject_cid) AS subject_cid,
       'at://' || via.did || '/app.bsky.feed.repost/'
         || bsky.rkey_text(t.via_actor, 3, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey,
       t.via_actor,
       t.via_rkey
FROM bsky.reposts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.reposts_view IS 'Reposts. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.reposts_view.subject_actor IS 'What is reposted: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.reposts_view.subject_collection IS 'What is reposted: number of its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.reposts_view.subject_rkey IS 'What is reposted: its record key, as a number.';
COMMENT ON COLUMN bsky.reposts_view.via_actor IS 'The repost through which it was seen: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.reposts_view.via_rkey IS 'The repost through which it was seen: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.threadgates_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.threadgate/' || bsky.rkey_text(t.actor_id, 4, t.rkey) AS uri,
       a.did,
       a.handle,
       'at://' || post.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.post_actor, 1, t.post_rkey) AS post_uri,
       t.is_restricted,
       t.allow_mentioned,
       t.allow_following,
       t.allow_followers,
       t.allow_lists,
       t.hidden_replies,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.post_actor,
       t.post_rkey
FROM bsky.threadgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.threadgates_view IS 'Who may reply in a thread. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.threadgates_view.post_actor IS 'The thread''s first post: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.threadgates_view.post_rkey IS 'The thread''s first post: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.postgates_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.postgate/' || bsky.rkey_text(t.actor_id, 5, t.rkey) AS uri,
       a.did,
       a.handle,
       'at://' || post.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.post_actor, 1, t.post_rkey) AS post_uri,
       t.embedding_disabled,
       t.detached_uris,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.post_actor,
       t.post_rkey
FROM bsky.postgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.postgates_view IS 'Who may quote a post. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.postgates_view.post_actor IS 'The post: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.postgates_view.post_rkey IS 'The post: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.follows_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(t.actor_id, 7, t.rkey) AS uri,
       a.did,
       a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       'at://' || via.did || '/' || via_c.nsid || '/'
         || bsky.rkey_text(t.via_actor, t.via_collection, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.via_actor,
       t.via_collection,
       t.via_rkey
FROM bsky.follows t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors via ON via.id = t.via_actor
LEFT JOIN bsky.collections via_c ON via_c.id = t.via_collection
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.follows_view IS 'Follows. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.follows_view.via_actor IS 'The record that led to the follow, such as a starter pack: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.follows_view.via_collection IS 'The record that led to the follow, such as a starter pack: number of its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.follows_view.via_rkey IS 'The record that led to the follow, such as a starter pack: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.list_items_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.listitem/' || bsky.rkey_text(t.actor_id, 10, t.rkey) AS uri,
       a.did,
       a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.list_actor,
       t.list_rkey
FROM bsky.list_items t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.list_items_view IS 'Memberships in lists. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.list_items_view.list_actor IS 'The list: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_items_view.list_rkey IS 'The list: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.list_blocks_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.listblock/' || bsky.rkey_text(t.actor_id, 11, t.rkey) AS uri,
       a.did,
       a.handle,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.list_actor,
       t.list_rkey
FROM bsky.list_blocks t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.list_blocks_view IS 'Blocks of everybody on a list. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.list_blocks_view.list_actor IS 'The list: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_blocks_view.list_rkey IS 'The list: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.starter_packs_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.starterpack/' || bsky.rkey_text(t.actor_id, 12, t.rkey) AS uri,
       a.did,
       a.handle,
       t.name,
       t.description,
       t.description_facets,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.feeds,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.list_actor,
       t.list_rkey
FROM bsky.starter_packs t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.starter_packs_view IS 'Starter packs for newcomers. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.starter_packs_view.list_actor IS 'The list of its accounts: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.starter_packs_view.list_rkey IS 'The list of its accounts: its record key, as a number.';

CREATE OR REPLACE VIEW bsky.profiles_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.profile/' || bsky.rkey_text(t.actor_id, 14, t.rkey) AS uri,
       a.did,
       a.handle,
       t.display_name,
       t.description,
       t.pronouns,
       t.website,
       t.avatar_cid,
       t.banner_cid,
       t.labels,
       'at://' || pinned.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.pinned_actor, 1, t.pinned_rkey) AS pinned_uri,
       bsky.cid_text(t.pinned_cid) AS pinned_cid,
       'at://' || joined_via.did || '/app.bsky.graph.starterpack/'
         || bsky.rkey_text(t.joined_via_actor, 12, t.joined_via_rkey) AS joined_via_uri,
       bsky.cid_text(t.joined_via_cid) AS joined_via_cid,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.pinned_actor,
       t.pinned_rkey,
       t.joined_via_actor,
       t.joined_via_rkey
FROM bsky.profiles t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors pinned ON pinned.id = t.pinned_actor
LEFT JOIN bsky.actors joined_via ON joined_via.id = t.joined_via_actor
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.profiles_view IS 'Profiles. Compare keys, not URIs: bsky.resolve_uri gives the key of a URI.';
COMMENT ON COLUMN bsky.profiles_view.pinned_actor IS 'The post that is pinned: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.profiles_view.pinned_rkey IS 'The post that is pinned: its record key, as a number.';
COMMENT ON COLUMN bsky.profiles_view.joined_via_actor IS 'The starter pack through which the account joined: number of its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.profiles_view.joined_via_rkey IS 'The starter pack through which the account joined: its record key, as a number.';

