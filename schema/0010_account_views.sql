-- Views: what people know (URIs, DIDs, handles) beside what the tables hold. A joined table that a
-- query does not use is left out by the planner.

CREATE VIEW bsky.profiles_view AS
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
       t.rkey
FROM bsky.profiles t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors pinned ON pinned.id = t.pinned_actor
LEFT JOIN bsky.actors joined_via ON joined_via.id = t.joined_via_actor;
COMMENT ON VIEW bsky.profiles_view IS 'Profiles. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.profiles_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.profiles_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.profiles_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.profiles_view.display_name IS 'Name.';
COMMENT ON COLUMN bsky.profiles_view.description IS 'Description.';
COMMENT ON COLUMN bsky.profiles_view.pronouns IS 'Pronouns.';
COMMENT ON COLUMN bsky.profiles_view.website IS 'Website.';
COMMENT ON COLUMN bsky.profiles_view.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.profiles_view.banner_cid IS 'CID of the banner.';
COMMENT ON COLUMN bsky.profiles_view.labels IS 'Labels that the account put on itself.';
COMMENT ON COLUMN bsky.profiles_view.pinned_uri IS 'The post that is pinned: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.profiles_view.pinned_cid IS 'The post that is pinned: CID of the version that was meant.';
COMMENT ON COLUMN bsky.profiles_view.joined_via_uri IS 'The starter pack through which the account joined: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.profiles_view.joined_via_cid IS 'The starter pack through which the account joined: CID of the version that was meant.';
COMMENT ON COLUMN bsky.profiles_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.profiles_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.profiles_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.profiles_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.profiles_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.profiles_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.profiles_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.statuses_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.status/' || bsky.rkey_text(t.actor_id, 15, t.rkey) AS uri,
       a.did,
       a.handle,
       t.status,
       t.embed,
       t.duration_minutes,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.statuses t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.statuses_view IS 'What accounts are doing now. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.statuses_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.statuses_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.statuses_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.statuses_view.status IS 'For example app.bsky.actor.status#live.';
COMMENT ON COLUMN bsky.statuses_view.embed IS 'Link card, as in the record.';
COMMENT ON COLUMN bsky.statuses_view.duration_minutes IS 'How long it holds, from created_at.';
COMMENT ON COLUMN bsky.statuses_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.statuses_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.statuses_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.statuses_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.statuses_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.statuses_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.statuses_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.chat_declarations_view AS
SELECT 'at://' || a.did || '/chat.bsky.actor.declaration/' || bsky.rkey_text(t.actor_id, 16, t.rkey) AS uri,
       a.did,
       a.handle,
       t.allow_incoming,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.chat_declarations t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.chat_declarations_view IS 'Who may write an account direct messages. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.chat_declarations_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.chat_declarations_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.chat_declarations_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.chat_declarations_view.allow_incoming IS 'all, none or following.';
COMMENT ON COLUMN bsky.chat_declarations_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.chat_declarations_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.chat_declarations_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.chat_declarations_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.chat_declarations_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.chat_declarations_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.chat_declarations_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.notification_declarations_view AS
SELECT 'at://' || a.did || '/app.bsky.notification.declaration/' || bsky.rkey_text(t.actor_id, 17, t.rkey) AS uri,
       a.did,
       a.handle,
       t.allow_subscriptions,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.notification_declarations t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.notification_declarations_view IS 'Who may subscribe to an account''s posts. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.notification_declarations_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.notification_declarations_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.notification_declarations_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.notification_declarations_view.allow_subscriptions IS 'followers, mutuals or none.';
COMMENT ON COLUMN bsky.notification_declarations_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.notification_declarations_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.notification_declarations_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.notification_declarations_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.notification_declarations_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.notification_declarations_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.notification_declarations_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.germ_declarations_view AS
SELECT 'at://' || a.did || '/com.germnetwork.declaration/' || bsky.rkey_text(t.actor_id, 18, t.rkey) AS uri,
       a.did,
       a.handle,
       t.version,
       t.current_key,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.germ_declarations t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.germ_declarations_view IS 'How an account is reached by Germ messages. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.germ_declarations_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.germ_declarations_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.germ_declarations_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.germ_declarations_view.version IS 'Version of the declaration.';
COMMENT ON COLUMN bsky.germ_declarations_view.current_key IS 'Public key.';
COMMENT ON COLUMN bsky.germ_declarations_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.germ_declarations_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.germ_declarations_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.germ_declarations_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.germ_declarations_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.germ_declarations_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.germ_declarations_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.labelers_view AS
SELECT 'at://' || a.did || '/app.bsky.labeler.service/' || bsky.rkey_text(t.actor_id, 19, t.rkey) AS uri,
       a.did,
       a.handle,
       t.policies,
       t.labels,
       t.reason_types,
       t.subject_types,
       t.subject_collections,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.labelers t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.labelers_view IS 'Labeling services. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.labelers_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.labelers_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.labelers_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.labelers_view.policies IS 'Label values and what they mean, as in the record.';
COMMENT ON COLUMN bsky.labelers_view.labels IS 'Labels that the account put on itself.';
COMMENT ON COLUMN bsky.labelers_view.reason_types IS 'Reasons for which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers_view.subject_types IS 'Kinds of subject on which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers_view.subject_collections IS 'Collections on which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.labelers_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.labelers_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.labelers_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.labelers_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.labelers_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.labelers_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';
