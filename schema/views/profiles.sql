-- The views of accounts, profiles, statuses and declarations.
-- New columns are at the end (views/feed.sql).

CREATE OR REPLACE VIEW bsky.profiles_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.profile/' || bsky.rkey_text(t.actor_id, 14, t.rkey) AS uri,
       a.did, a.handle, t.display_name, t.description, t.pronouns, t.website, t.avatar_cid, t.banner_cid, t.labels,
       'at://' || pinned.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.pinned_actor, 1, t.pinned_rkey) AS pinned_uri,
       bsky.cid_text(t.pinned_cid) AS pinned_cid,
       'at://' || joined_via.did || '/app.bsky.graph.starterpack/'
         || bsky.rkey_text(t.joined_via_actor, 12, t.joined_via_rkey) AS joined_via_uri,
       bsky.cid_text(t.joined_via_cid) AS joined_via_cid,
       t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey, t.pinned_actor, t.pinned_rkey, t.joined_via_actor, t.joined_via_rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 14, t.rkey) AS rkey_text,
       'https://bsky.app/profile/' || a.did AS url
FROM bsky.profiles t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors pinned ON pinned.id = t.pinned_actor
LEFT JOIN bsky.actors joined_via ON joined_via.id = t.joined_via_actor
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_reference('profiles', 'pinned', 'the pinned post');
SELECT skua.comment_on_reference('profiles', 'joined_via', 'the starter pack that the account joined with');
SELECT skua.comment_on_records('profiles', 'app.bsky.actor.profile', 'Profiles, one per account');

CREATE OR REPLACE VIEW bsky.statuses_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.status/' || bsky.rkey_text(t.actor_id, 15, t.rkey) AS uri,
       a.did, a.handle, t.status, t.embed, t.duration_minutes, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 15, t.rkey) AS rkey_text
FROM bsky.statuses t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('statuses', 'app.bsky.actor.status', 'Current statuses of accounts, one per account');

CREATE OR REPLACE VIEW bsky.chat_declarations_view AS
SELECT 'at://' || a.did || '/chat.bsky.actor.declaration/' || bsky.rkey_text(t.actor_id, 16, t.rkey) AS uri,
       a.did, a.handle, t.allow_incoming, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 16, t.rkey) AS rkey_text
FROM bsky.chat_declarations t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('chat_declarations', 'chat.bsky.actor.declaration', 'Rules for direct messages, one per account');

CREATE OR REPLACE VIEW bsky.notification_declarations_view AS
SELECT 'at://' || a.did || '/app.bsky.notification.declaration/' || bsky.rkey_text(t.actor_id, 17, t.rkey) AS uri,
       a.did, a.handle, t.allow_subscriptions, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 17, t.rkey) AS rkey_text
FROM bsky.notification_declarations t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('notification_declarations', 'app.bsky.notification.declaration', 'Rules for subscriptions to posts, one per account');

CREATE OR REPLACE VIEW bsky.germ_declarations_view AS
SELECT 'at://' || a.did || '/com.germnetwork.declaration/' || bsky.rkey_text(t.actor_id, 18, t.rkey) AS uri,
       a.did, a.handle, t.version, t.current_key, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 18, t.rkey) AS rkey_text
FROM bsky.germ_declarations t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('germ_declarations', 'com.germnetwork.declaration', 'Keys and rules for Germ messages, one per account');

CREATE OR REPLACE VIEW bsky.labelers_view AS
SELECT 'at://' || a.did || '/app.bsky.labeler.service/' || bsky.rkey_text(t.actor_id, 19, t.rkey) AS uri,
       a.did, a.handle, t.policies, t.labels, t.reason_types, t.subject_types, t.subject_collections, t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 19, t.rkey) AS rkey_text,
       'https://bsky.app/profile/' || a.did AS url
FROM bsky.labelers t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('labelers', 'app.bsky.labeler.service', 'Labeling services, one per account');

CREATE OR REPLACE VIEW bsky.visibility_declarations_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.contentVisibilityDeclaration/' || bsky.rkey_text(t.actor_id, 20, t.rkey) AS uri,
       a.did, a.handle,
       coalesce(t.hide_from_algorithmic_recommendations, false) AS hide_from_algorithmic_recommendations, t.created_at, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra, t.actor_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, 20, t.rkey) AS rkey_text
FROM bsky.visibility_declarations t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
SELECT skua.comment_on_records('visibility_declarations', 'app.bsky.actor.contentVisibilityDeclaration', 'Rules for the appearance of posts, one per account');

CREATE OR REPLACE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle, p.display_name, p.description, p.avatar_cid, a.active, a.status, a.status_time, p.created_at,
       a.indexed_at, a.id, a.handle_valid,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.followers, 0) END AS followers,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.follows, 0) END AS follows,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.posts, 0) END AS posts,
       coalesce(a.handle, a.did) AS name,
       -- A left join would read the identities of all nodes in a query database, also for queries that do not use the column.
       (SELECT i.created_at FROM skua.identities i WHERE i.did = a.did) AS account_created_at,
       -- Without a handle nothing can be verified.
       CASE WHEN a.handle IS NULL OR a.active IS FALSE THEN 'none' ELSE coalesce((
         SELECT CASE WHEN bool_or(v.handle = a.handle AND v.display_name = p.display_name AND v.display_name <> '') THEN 'valid'
                     WHEN count(*) > 0 THEN 'invalid' END
         FROM bsky.verifications v
         JOIN bsky.actors issuer ON issuer.id = v.actor_id AND issuer.active IS NOT FALSE
         JOIN skua.trusted_accounts trusted ON trusted.role = 'verifier' AND trusted.did = issuer.did
         WHERE v.subject_actor = a.id), 'none') END AS verification,
       'https://bsky.app/profile/' || a.did AS url
FROM bsky.actors a
LEFT JOIN bsky.profiles p ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self') AND a.active IS NOT FALSE
LEFT JOIN bsky.actor_stats stats ON stats.actor_id = a.id AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.actors_view IS 'The accounts, with their profiles. An inactive account has no profile here.';
COMMENT ON COLUMN bsky.actors_view.did IS 'The DID of the account.';
COMMENT ON COLUMN bsky.actors_view.handle IS 'The handle that the account owns (bsky.actors.handle).';
COMMENT ON COLUMN bsky.actors_view.display_name IS 'The display name in the profile.';
COMMENT ON COLUMN bsky.actors_view.description IS 'The description in the profile.';
COMMENT ON COLUMN bsky.actors_view.avatar_cid IS 'The CID of the picture in the profile.';
COMMENT ON COLUMN bsky.actors_view.active IS 'True if the host serves the account; null if its hosting status is not known.';
COMMENT ON COLUMN bsky.actors_view.status IS 'The reason of the hosting status.';
COMMENT ON COLUMN bsky.actors_view.status_time IS 'The time of the event that set active and status.';
COMMENT ON COLUMN bsky.actors_view.created_at IS 'The creation time that the profile states.';
COMMENT ON COLUMN bsky.actors_view.indexed_at IS 'The time at which the account was first seen or mentioned.';
COMMENT ON COLUMN bsky.actors_view.id IS 'The account number.';
COMMENT ON COLUMN bsky.actors_view.handle_valid IS 'True if a look-up confirmed that the claimed handle leads back to the account; null before the first look-up.';
COMMENT ON COLUMN bsky.actors_view.followers IS 'The number of accounts that follow it. Null unless the projection actor_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.follows IS 'The number of accounts that it follows. Null unless the projection actor_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.posts IS 'The number of its posts, including replies. Null unless the projection actor_stats is current (bsky.is_current).';
COMMENT ON COLUMN bsky.actors_view.name IS 'The handle of the account, or its DID if the account has no handle.';
COMMENT ON COLUMN bsky.actors_view.account_created_at IS 'The time of the first operation of the DID in the PLC directory; null unless `skua identity import` has read it.';
COMMENT ON COLUMN bsky.actors_view.verification IS 'valid: a trusted verifier (skua.trusted_accounts) verified the account, which still has the verified handle and display name. invalid: it has another one. none: no trusted verifier verified the account, or it has no handle.';
COMMENT ON COLUMN bsky.actors_view.url IS 'The URL of the profile on bsky.app.';
