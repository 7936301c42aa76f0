-- Views: what people know (URIs, DIDs, handles) beside what the tables hold. A joined table that a
-- query does not use is left out by the planner.

CREATE VIEW bsky.follows_view AS
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
       t.rkey
FROM bsky.follows t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors via ON via.id = t.via_actor
LEFT JOIN bsky.collections via_c ON via_c.id = t.via_collection;
COMMENT ON VIEW bsky.follows_view IS 'Follows. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.follows_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.follows_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.follows_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.follows_view.subject_did IS 'Who is followed: DID.';
COMMENT ON COLUMN bsky.follows_view.subject_handle IS 'Who is followed: handle, as far as known.';
COMMENT ON COLUMN bsky.follows_view.subject_actor IS 'Who is followed: number (bsky.actors.id).';
COMMENT ON COLUMN bsky.follows_view.via_uri IS 'The record that led to the follow, such as a starter pack: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.follows_view.via_cid IS 'The record that led to the follow, such as a starter pack: CID of the version that was meant.';
COMMENT ON COLUMN bsky.follows_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.follows_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.follows_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.follows_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.follows_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.follows_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.follows_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.blocks_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.block/' || bsky.rkey_text(t.actor_id, 8, t.rkey) AS uri,
       a.did,
       a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.blocks t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor;
COMMENT ON VIEW bsky.blocks_view IS 'Blocks. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.blocks_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.blocks_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.blocks_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.blocks_view.subject_did IS 'Who is blocked: DID.';
COMMENT ON COLUMN bsky.blocks_view.subject_handle IS 'Who is blocked: handle, as far as known.';
COMMENT ON COLUMN bsky.blocks_view.subject_actor IS 'Who is blocked: number (bsky.actors.id).';
COMMENT ON COLUMN bsky.blocks_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.blocks_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.blocks_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.blocks_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.blocks_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.blocks_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.blocks_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.lists_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.list/' || bsky.rkey_text(t.actor_id, 9, t.rkey) AS uri,
       a.did,
       a.handle,
       t.purpose,
       t.name,
       t.description,
       t.description_facets,
       t.avatar_cid,
       t.labels,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.lists t
JOIN bsky.actors a ON a.id = t.actor_id;
COMMENT ON VIEW bsky.lists_view IS 'Lists of accounts. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.lists_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.lists_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.lists_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.lists_view.purpose IS 'What it is for: app.bsky.graph.defs#curatelist, #modlist or #referencelist.';
COMMENT ON COLUMN bsky.lists_view.name IS 'Name.';
COMMENT ON COLUMN bsky.lists_view.description IS 'Description.';
COMMENT ON COLUMN bsky.lists_view.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.lists_view.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.lists_view.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.lists_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.lists_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.lists_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.lists_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.lists_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.lists_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.lists_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.list_items_view AS
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
       t.rkey
FROM bsky.list_items t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.actors list ON list.id = t.list_actor;
COMMENT ON VIEW bsky.list_items_view IS 'Memberships in lists. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.list_items_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.list_items_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.list_items_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.list_items_view.subject_did IS 'Who is on the list: DID.';
COMMENT ON COLUMN bsky.list_items_view.subject_handle IS 'Who is on the list: handle, as far as known.';
COMMENT ON COLUMN bsky.list_items_view.subject_actor IS 'Who is on the list: number (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_items_view.list_uri IS 'The list: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.list_items_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.list_items_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.list_items_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.list_items_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.list_items_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.list_items_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.list_items_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.list_blocks_view AS
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
       t.rkey
FROM bsky.list_blocks t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor;
COMMENT ON VIEW bsky.list_blocks_view IS 'Blocks of everybody on a list. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.list_blocks_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.list_blocks_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.list_blocks_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.list_blocks_view.list_uri IS 'The list: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.list_blocks_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.list_blocks_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.list_blocks_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.list_blocks_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.list_blocks_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.list_blocks_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.list_blocks_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.starter_packs_view AS
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
       t.rkey
FROM bsky.starter_packs t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors list ON list.id = t.list_actor;
COMMENT ON VIEW bsky.starter_packs_view IS 'Starter packs for newcomers. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.starter_packs_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.starter_packs_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.starter_packs_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.starter_packs_view.name IS 'Name.';
COMMENT ON COLUMN bsky.starter_packs_view.description IS 'Description.';
COMMENT ON COLUMN bsky.starter_packs_view.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.starter_packs_view.list_uri IS 'The list of its accounts: AT-URI; null when there is none, or when it is not named by DID (then see extra).';
COMMENT ON COLUMN bsky.starter_packs_view.feeds IS 'Its feed generators (AT-URIs).';
COMMENT ON COLUMN bsky.starter_packs_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.starter_packs_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.starter_packs_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.starter_packs_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.starter_packs_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.starter_packs_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.starter_packs_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.verifications_view AS
SELECT 'at://' || a.did || '/app.bsky.graph.verification/' || bsky.rkey_text(t.actor_id, 13, t.rkey) AS uri,
       a.did,
       a.handle,
       subject.did AS subject_did,
       subject.handle AS subject_handle,
       t.subject_actor,
       t.handle AS verified_handle,
       t.display_name,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey
FROM bsky.verifications t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor;
COMMENT ON VIEW bsky.verifications_view IS 'One account vouching for another. To find one by its URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.verifications_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.verifications_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.verifications_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.verifications_view.subject_did IS 'Who is verified: DID.';
COMMENT ON COLUMN bsky.verifications_view.subject_handle IS 'Who is verified: handle, as far as known.';
COMMENT ON COLUMN bsky.verifications_view.subject_actor IS 'Who is verified: number (bsky.actors.id).';
COMMENT ON COLUMN bsky.verifications_view.verified_handle IS 'The handle at that time; the verification holds while it is the same.';
COMMENT ON COLUMN bsky.verifications_view.display_name IS 'The display name at that time; likewise.';
COMMENT ON COLUMN bsky.verifications_view.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.verifications_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.verifications_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.verifications_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.verifications_view.extra IS 'What the record has besides these columns; null when nothing.';
COMMENT ON COLUMN bsky.verifications_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.verifications_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';
