-- Views: what people know (URIs, DIDs, handles) beside what the tables hold. A joined table that a
-- query does not use is left out by the planner.

CREATE VIEW bsky.posts_view AS
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
       t.rkey
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors parent ON parent.id = t.parent_actor
LEFT JOIN bsky.actors root ON root.id = t.root_actor
LEFT JOIN bsky.actors quote ON quote.id = t.quote_actor
LEFT JOIN bsky.collections quote_c ON quote_c.id = t.quote_collection
WHERE t.cid IS NOT NULL;
COMMENT ON VIEW bsky.posts_view IS 'Posts, without stubs. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.posts_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.posts_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.posts_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.posts_view.text IS 'The text. A NUL in it was removed.';
COMMENT ON COLUMN bsky.posts_view.langs IS 'Language tags that the author chose.';
COMMENT ON COLUMN bsky.posts_view.tags IS 'Tags besides those in the text.';
COMMENT ON COLUMN bsky.posts_view.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.posts_view.facets IS 'Mentions, links and tags in the text, as in the record (bsky.post_facets_view takes them apart).';
COMMENT ON COLUMN bsky.posts_view.embed IS 'Images, video, link card or quoted record, as in the record.';
COMMENT ON COLUMN bsky.posts_view.parent_uri IS 'The post it answers: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.posts_view.parent_cid IS 'The post it answers: CID of the version that was meant.';
COMMENT ON COLUMN bsky.posts_view.root_uri IS 'The first post of its thread: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.posts_view.root_cid IS 'The first post of its thread: CID of the version that was meant.';
COMMENT ON COLUMN bsky.posts_view.quote_uri IS 'The record it quotes: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.posts_view.quote_cid IS 'The record it quotes: CID of the version that was meant.';
COMMENT ON COLUMN bsky.posts_view.sort_at IS 'The earlier of created_at and indexed_at: what to sort posts by.';
COMMENT ON COLUMN bsky.posts_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.posts_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.posts_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.posts_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.posts_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.posts_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.posts_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.likes_view AS
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
       t.rkey
FROM bsky.likes t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor;
COMMENT ON VIEW bsky.likes_view IS 'Likes. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.likes_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.likes_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.likes_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.likes_view.subject_uri IS 'What is liked: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.likes_view.subject_cid IS 'What is liked: CID of the version that was meant.';
COMMENT ON COLUMN bsky.likes_view.via_uri IS 'The repost through which it was seen: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.likes_view.via_cid IS 'The repost through which it was seen: CID of the version that was meant.';
COMMENT ON COLUMN bsky.likes_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.likes_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.likes_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.likes_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.likes_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.likes_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.likes_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.reposts_view AS
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
       t.rkey
FROM bsky.reposts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
LEFT JOIN bsky.actors via ON via.id = t.via_actor;
COMMENT ON VIEW bsky.reposts_view IS 'Reposts. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.reposts_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.reposts_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.reposts_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.reposts_view.subject_uri IS 'What is reposted: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.reposts_view.subject_cid IS 'What is reposted: CID of the version that was meant.';
COMMENT ON COLUMN bsky.reposts_view.via_uri IS 'The repost through which it was seen: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.reposts_view.via_cid IS 'The repost through which it was seen: CID of the version that was meant.';
COMMENT ON COLUMN bsky.reposts_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.reposts_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.reposts_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.reposts_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.reposts_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.reposts_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.reposts_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.threadgates_view AS
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
       t.rkey
FROM bsky.threadgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor;
COMMENT ON VIEW bsky.threadgates_view IS 'Who may reply in a thread. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.threadgates_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.threadgates_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.threadgates_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.threadgates_view.post_uri IS 'The thread''s first post: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.threadgates_view.is_restricted IS 'Only those whom a rule names may reply, nobody if there is no rule. False: everybody may.';
COMMENT ON COLUMN bsky.threadgates_view.allow_mentioned IS 'Accounts that the post mentions may reply.';
COMMENT ON COLUMN bsky.threadgates_view.allow_following IS 'Accounts that the author follows may reply.';
COMMENT ON COLUMN bsky.threadgates_view.allow_followers IS 'Accounts that follow the author may reply.';
COMMENT ON COLUMN bsky.threadgates_view.allow_lists IS 'Members of these lists may reply (AT-URIs).';
COMMENT ON COLUMN bsky.threadgates_view.hidden_replies IS 'Replies that the author hid (AT-URIs).';
COMMENT ON COLUMN bsky.threadgates_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.threadgates_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.threadgates_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.threadgates_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.threadgates_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.threadgates_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.threadgates_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.postgates_view AS
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
       t.rkey
FROM bsky.postgates t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors post ON post.id = t.post_actor;
COMMENT ON VIEW bsky.postgates_view IS 'Who may quote a post. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.postgates_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.postgates_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.postgates_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.postgates_view.post_uri IS 'The post: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.postgates_view.embedding_disabled IS 'Nobody but the author may quote it.';
COMMENT ON COLUMN bsky.postgates_view.detached_uris IS 'Quoting posts that the author detached (AT-URIs).';
COMMENT ON COLUMN bsky.postgates_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.postgates_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.postgates_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.postgates_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.postgates_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.postgates_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.postgates_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.feed_generators_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.generator/' || bsky.rkey_text(t.actor_id, 6, t.rkey) AS uri,
       a.did,
       a.handle,
       t.service_did,
       t.display_name,
       t.description,
       t.description_facets,
       t.avatar_cid,
       t.accepts_interactions,
       t.content_mode,
       t.labels,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.feed_generators t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.feed_generators_view IS 'Feeds that people make. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.feed_generators_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.feed_generators_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.feed_generators_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.feed_generators_view.service_did IS 'The service that answers for the feed.';
COMMENT ON COLUMN bsky.feed_generators_view.display_name IS 'Name.';
COMMENT ON COLUMN bsky.feed_generators_view.description IS 'Description.';
COMMENT ON COLUMN bsky.feed_generators_view.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.feed_generators_view.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.feed_generators_view.accepts_interactions IS 'Whether it wants to hear what people do with its posts.';
COMMENT ON COLUMN bsky.feed_generators_view.content_mode IS 'What it holds, for example app.bsky.feed.defs#contentModeVideo.';
COMMENT ON COLUMN bsky.feed_generators_view.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.feed_generators_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.feed_generators_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.feed_generators_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.feed_generators_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.feed_generators_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.feed_generators_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.feed_generators_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';
