-- The views of follows, blocks, lists and starter packs.
-- New columns are at the end (views/feed.sql).

CREATE OR REPLACE VIEW bsky.follows_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(t.actor_id, 7, t.rkey) AS uri,
       a.did, a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       'at://' || via.did || '/' || via_c.nsid || '/'
         || bsky.rkey_text(t.via_actor, t.via_collection, t.via_rkey) AS via_uri,
       bsky.cid_text(t.via_cid) AS via_cid,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.via_actor, t.via_collection, t.via_rkey,
       coalesce(a.handle, a.did) AS name,
       coalesce(subject.handle, subject.did) AS subject_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 7, t.rkey) AS rkey_text
FROM bsky.follows t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors via ON via.id = t.via_actor
LEFT JOIN bsky.collections via_c ON via_c.id = t.via_collection
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('follows', 'subject', 'the followed account');
SELECT skua.comment_on_reference('follows', 'via', 'the record that led to the follow');
SELECT skua.comment_on_records('follows', 'app.bsky.graph.follow', 'Follows of accounts',
  ' via_actor and via_rkey refer to the record that led to the follow, such as a starter pack.');

CREATE OR REPLACE VIEW bsky.blocks_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.block/' || bsky.rkey_text(t.actor_id, 8, t.rkey) AS uri,
       a.did, a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       coalesce(subject.handle, subject.did) AS subject_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 8, t.rkey) AS rkey_text
FROM bsky.blocks t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('blocks', 'subject', 'the blocked account');
SELECT skua.comment_on_records('blocks', 'app.bsky.graph.block', 'Blocks of accounts');

CREATE OR REPLACE VIEW bsky.lists_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.list/' || bsky.rkey_text(t.actor_id, 9, t.rkey) AS uri,
       a.did, a.handle, t.purpose, t.name, t.description, t.description_facets, t.avatar_cid, t.labels, t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS author_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 9, t.rkey) AS rkey_text,
       'https://bsky.app/profile/' || a.did || '/lists/' || bsky.rkey_text(t.actor_id, 9, t.rkey) AS url
FROM bsky.lists t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('lists', 'app.bsky.graph.list', 'Lists of accounts');

CREATE OR REPLACE VIEW bsky.list_items_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.listitem/' || bsky.rkey_text(t.actor_id, 10, t.rkey) AS uri,
       a.did, a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.list_actor, t.list_rkey,
       coalesce(a.handle, a.did) AS name,
       coalesce(subject.handle, subject.did) AS subject_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 10, t.rkey) AS rkey_text
FROM bsky.list_items t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('list_items', 'subject', 'the account on the list');
SELECT skua.comment_on_reference('list_items', 'list', 'the list');
SELECT skua.comment_on_records('list_items', 'app.bsky.graph.listitem', 'Accounts on lists',
  ' A record applies only if its author is the owner of the list.');

CREATE OR REPLACE VIEW bsky.list_blocks_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.listblock/' || bsky.rkey_text(t.actor_id, 11, t.rkey) AS uri,
       a.did, a.handle,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.list_actor, t.list_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 11, t.rkey) AS rkey_text
FROM bsky.list_blocks t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('list_blocks', 'list', 'the list');
SELECT skua.comment_on_records('list_blocks', 'app.bsky.graph.listblock', 'Blocks of all accounts on a list');

CREATE OR REPLACE VIEW bsky.starter_packs_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.starterpack/' || bsky.rkey_text(t.actor_id, 12, t.rkey) AS uri,
       a.did, a.handle, t.name, t.description, t.description_facets,
       'at://' || list.did || '/app.bsky.graph.list/'
         || bsky.rkey_text(t.list_actor, 9, t.list_rkey) AS list_uri,
       t.feeds, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.list_actor, t.list_rkey,
       coalesce(a.handle, a.did) AS author_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 12, t.rkey) AS rkey_text,
       'https://bsky.app/starter-pack/' || a.did || '/' || bsky.rkey_text(t.actor_id, 12, t.rkey) AS url
FROM bsky.starter_packs t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('starter_packs', 'list', 'the list of recommended accounts');
SELECT skua.comment_on_records('starter_packs', 'app.bsky.graph.starterpack', 'Starter packs with accounts and feeds for new users');

CREATE OR REPLACE VIEW bsky.verifications_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.verification/' || bsky.rkey_text(t.actor_id, 13, t.rkey) AS uri,
       a.did, a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       t.handle AS verified_handle,
       t.display_name, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       coalesce(subject.handle, subject.did) AS subject_name,
       bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time,
       bsky.rkey_text(t.actor_id, 13, t.rkey) AS rkey_text,
       EXISTS (SELECT FROM skua.trusted_accounts v WHERE v.role = 'verifier' AND v.did = a.did) AS is_trusted,
       coalesce(t.handle <> '' AND t.handle = subject.handle AND t.display_name <> '' AND t.display_name = (
         SELECT p.display_name FROM bsky.profiles p WHERE p.actor_id = t.subject_actor AND p.rkey = bsky.rkey_number('self')), false) AS is_valid
FROM bsky.verifications t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('verifications', 'subject', 'the verified account');
SELECT skua.comment_on_records('verifications', 'app.bsky.graph.verification', 'Verifications of accounts by other accounts');
COMMENT ON COLUMN bsky.verifications_view.verified_handle IS 'The handle of the verified account when it was verified. The verification is valid only while the account has this handle.';
COMMENT ON COLUMN bsky.verifications_view.is_trusted IS 'True if the author is a trusted verifier (skua.trusted_accounts). Other verifications do not count.';
COMMENT ON COLUMN bsky.verifications_view.is_valid IS 'True if the verified account still has this handle and this display name.';
