-- Relations between accounts, and lists of accounts.
--
-- Columns are sorted by width, widest first, so that rows have no padding; a migration adds columns at the end. There are
-- no foreign keys and no triggers, so that these tables can be distributed over servers by actor_id. skua.comment_on_records
-- writes the comments of tables, and of the columns that all tables of records have (views/).

CREATE TABLE bsky.follows (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  created_at     timestamptz,
  via_rkey       int8,
  actor_id       int8 NOT NULL,
  subject_actor  int8 NOT NULL,
  via_actor      int8,
  via_collection int4,
  cid            bytea NOT NULL,
  via_cid        bytea,
  extra          jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX follows_subject ON bsky.follows (subject_actor, actor_id);

CREATE TABLE bsky.blocks (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  actor_id      int8 NOT NULL,
  subject_actor int8 NOT NULL,
  cid           bytea NOT NULL,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX blocks_subject ON bsky.blocks (subject_actor, actor_id);

CREATE TABLE bsky.lists (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  actor_id           int8 NOT NULL,
  cid                bytea NOT NULL,
  purpose            text,
  name               text,
  description        text,
  description_facets jsonb,
  avatar_cid         text,
  labels             text[],
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.lists.purpose IS 'The purpose of the list: app.bsky.graph.defs#curatelist, #modlist or #referencelist.';
COMMENT ON COLUMN bsky.lists.name IS 'The name of the list.';
COMMENT ON COLUMN bsky.lists.description IS 'The description of the list.';
COMMENT ON COLUMN bsky.lists.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.lists.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.lists.labels IS 'The content warnings that the author chose.';

CREATE TABLE bsky.list_items (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  list_rkey     int8,
  actor_id      int8 NOT NULL,
  subject_actor int8 NOT NULL,
  list_actor    int8,
  cid           bytea NOT NULL,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX list_items_subject ON bsky.list_items (subject_actor);
CREATE INDEX list_items_list ON bsky.list_items (list_actor, list_rkey, subject_actor);

CREATE TABLE bsky.list_blocks (
  rkey       int8 NOT NULL,
  rev        int8 NOT NULL,
  indexed_at timestamptz NOT NULL,
  created_at timestamptz,
  list_rkey  int8,
  actor_id   int8 NOT NULL,
  list_actor int8,
  cid        bytea NOT NULL,
  extra      jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX list_blocks_list ON bsky.list_blocks (list_actor, list_rkey);

CREATE TABLE bsky.starter_packs (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  list_rkey          int8,
  actor_id           int8 NOT NULL,
  list_actor         int8,
  cid                bytea NOT NULL,
  name               text,
  description        text,
  description_facets jsonb,
  feeds              text[],
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.starter_packs.name IS 'The name of the starter pack.';
COMMENT ON COLUMN bsky.starter_packs.description IS 'The description of the starter pack.';
COMMENT ON COLUMN bsky.starter_packs.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.starter_packs.feeds IS 'The recommended feed generators, as AT-URIs.';

CREATE TABLE bsky.verifications (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  actor_id      int8 NOT NULL,
  subject_actor int8 NOT NULL,
  cid           bytea NOT NULL,
  handle        text,
  display_name  text,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX verifications_subject ON bsky.verifications (subject_actor);
COMMENT ON COLUMN bsky.verifications.handle IS 'The handle of the verified account when it was verified. The verification is valid only while the account has this handle.';
COMMENT ON COLUMN bsky.verifications.display_name IS 'The display name of the verified account when it was verified. The verification is valid only while the account has this name.';
