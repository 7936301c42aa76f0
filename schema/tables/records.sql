-- The records of all other collections, and the description of the tables that hold the records of one collection.

CREATE TABLE bsky.records (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  actor_id       int8 NOT NULL,
  collection_id  int4 NOT NULL,
  cid            bytea NOT NULL,
  record         jsonb NOT NULL,
  invalid_reason text,
  PRIMARY KEY (actor_id, collection_id, rkey)
);
CREATE INDEX records_collection ON bsky.records (collection_id, indexed_at);
COMMENT ON TABLE bsky.records IS 'The records of all other collections, and the records that violate their lexicon.';
COMMENT ON COLUMN bsky.records.rkey IS 'The record key, as a number (bsky.rkey_text returns its text).';
COMMENT ON COLUMN bsky.records.rev IS 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text).';
COMMENT ON COLUMN bsky.records.indexed_at IS 'The time at which this version of the record was indexed.';
COMMENT ON COLUMN bsky.records.actor_id IS 'The account whose repository contains the record (bsky.actors.id).';
COMMENT ON COLUMN bsky.records.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.records.cid IS 'SHA-256 of the block of the record (bsky.cid_text returns the CID).';
COMMENT ON COLUMN bsky.records.record IS 'The whole record, without NUL characters.';
COMMENT ON COLUMN bsky.records.invalid_reason IS 'The reason why the record violates its lexicon, which is built in or was added with `skua lexicon add`. Null: it is valid, or its collection has no lexicon.';

-- skua.make_record_json creates the functions bsky.record_json from these two tables and from the columns. A new table needs
-- a row in skua.record_tables, and a row in skua.record_fields for each column whose field does not follow from its name.
CREATE TABLE skua.record_tables (
  collection_id int4 NOT NULL PRIMARY KEY,
  name          text NOT NULL UNIQUE
);
INSERT INTO skua.record_tables VALUES
  (1, 'posts'), (2, 'likes'), (3, 'reposts'), (4, 'threadgates'), (5, 'postgates'), (6, 'feed_generators'), (7, 'follows'),
  (8, 'blocks'), (9, 'lists'), (10, 'list_items'), (11, 'list_blocks'), (12, 'starter_packs'), (13, 'verifications'),
  (14, 'profiles'), (15, 'statuses'), (16, 'chat_declarations'), (17, 'notification_declarations'),
  (18, 'germ_declarations'), (19, 'labelers'), (20, 'visibility_declarations');
COMMENT ON TABLE skua.record_tables IS 'The tables of bsky that hold the records of one collection.';
COMMENT ON COLUMN skua.record_tables.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN skua.record_tables.name IS 'The table, without its schema.';

CREATE TABLE skua.record_fields (
  table_name    text NOT NULL,
  column_name   text NOT NULL,
  field         text,
  collection_id int4,
  value         text,
  PRIMARY KEY (table_name, column_name)
);
INSERT INTO skua.record_fields VALUES
  ('posts', 'parent', 'reply', NULL,
   'CASE WHEN t.parent_actor IS NOT NULL AND t.root_actor IS NOT NULL THEN jsonb_build_object('
   '''root'', jsonb_build_object(''uri'', bsky.uri(t.root_actor, 1, t.root_rkey), ''cid'', bsky.cid_text(t.root_cid)), '
   '''parent'', jsonb_build_object(''uri'', bsky.uri(t.parent_actor, 1, t.parent_rkey), ''cid'', bsky.cid_text(t.parent_cid))) END'),
  ('posts', 'root', NULL, NULL, NULL),
  ('posts', 'quote', NULL, NULL, NULL),
  ('posts', 'is_deleted', NULL, NULL, NULL),
  ('likes', 'via', 'via', 3, NULL),
  ('reposts', 'via', 'via', 3, NULL),
  ('threadgates', 'post', 'post', 1, NULL),
  ('threadgates', 'is_restricted', 'allow', NULL,
   'CASE WHEN t.is_restricted THEN (SELECT coalesce(jsonb_agg(r.rule), ''[]'') FROM ('
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#mentionRule'') WHERE t.allow_mentioned UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#followingRule'') WHERE t.allow_following UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#followerRule'') WHERE t.allow_followers UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#listRule'', ''list'', l.uri) '
   'FROM unnest(t.allow_lists) AS l(uri)) AS r(rule)) END'),
  ('threadgates', 'allow_mentioned', NULL, NULL, NULL),
  ('threadgates', 'allow_following', NULL, NULL, NULL),
  ('threadgates', 'allow_followers', NULL, NULL, NULL),
  ('threadgates', 'allow_lists', NULL, NULL, NULL),
  ('postgates', 'post', 'post', 1, NULL),
  ('postgates', 'embedding_disabled', 'embeddingRules', NULL,
   'CASE WHEN t.embedding_disabled THEN ''[{"$type": "app.bsky.feed.postgate#disableRule"}]''::jsonb END'),
  ('postgates', 'detached_uris', 'detachedEmbeddingUris', NULL, NULL),
  ('feed_generators', 'service_did', 'did', NULL, NULL),
  ('list_items', 'list', 'list', 9, NULL),
  ('list_blocks', 'list', 'subject', 9, NULL),
  ('starter_packs', 'list', 'list', 9, NULL),
  ('starter_packs', 'feeds', 'feeds', NULL,
   'CASE WHEN t.feeds IS NOT NULL THEN (SELECT coalesce(jsonb_agg(jsonb_build_object(''uri'', f.uri)), ''[]'') '
   'FROM unnest(t.feeds) AS f(uri)) END'),
  ('profiles', 'pinned', 'pinnedPost', 1, NULL),
  ('profiles', 'joined_via', 'joinedViaStarterPack', 12, NULL);
INSERT INTO skua.record_fields (table_name, column_name)
SELECT 'posts', name FROM unnest(ARRAY['mentions', 'all_tags', 'links', 'link_hosts', 'images_without_alt', 'has_video']) AS name;
COMMENT ON TABLE skua.record_fields IS 'Fields of records that do not follow from the name and type of a column (skua.make_record_json).';
COMMENT ON COLUMN skua.record_fields.table_name IS 'The table (skua.record_tables.name).';
COMMENT ON COLUMN skua.record_fields.column_name IS 'The column; of a reference and of a blob without its ending, such as subject for subject_actor.';
COMMENT ON COLUMN skua.record_fields.field IS 'The field of the record; null: the column is no field.';
COMMENT ON COLUMN skua.record_fields.collection_id IS 'The collection of the target (bsky.collections.id), if no column has it.';
COMMENT ON COLUMN skua.record_fields.value IS 'The value as an SQL expression of the row t; null: it follows from the columns.';
