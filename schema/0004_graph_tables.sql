-- Relations between accounts, and lists.
-- Columns stand widest first, so that no row has padding. No foreign keys and no triggers, so that the
-- tables can be spread over servers by actor_id.

CREATE TABLE bsky.follows (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  created_at     timestamptz,
  via_rkey       int8,
  actor_id       int4 NOT NULL,
  subject_actor  int4 NOT NULL,
  via_actor      int4,
  via_collection int4,
  cid            bytea NOT NULL,
  via_cid        bytea,
  extra          jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX follows_subject ON bsky.follows (subject_actor);
COMMENT ON TABLE bsky.follows IS 'Follows (app.bsky.graph.follow).';
COMMENT ON COLUMN bsky.follows.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.follows.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.follows.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.follows.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.follows.via_rkey IS 'The record that led to the follow, such as a starter pack: its key, as a number.';
COMMENT ON COLUMN bsky.follows.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.follows.subject_actor IS 'Who is followed (bsky.actors.id).';
COMMENT ON COLUMN bsky.follows.via_actor IS 'The record that led to the follow, such as a starter pack: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.follows.via_collection IS 'The record that led to the follow, such as a starter pack: its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.follows.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.follows.via_cid IS 'The record that led to the follow, such as a starter pack: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.follows.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.blocks (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  actor_id      int4 NOT NULL,
  subject_actor int4 NOT NULL,
  cid           bytea NOT NULL,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX blocks_subject ON bsky.blocks (subject_actor);
COMMENT ON TABLE bsky.blocks IS 'Blocks (app.bsky.graph.block).';
COMMENT ON COLUMN bsky.blocks.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.blocks.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.blocks.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.blocks.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.blocks.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.blocks.subject_actor IS 'Who is blocked (bsky.actors.id).';
COMMENT ON COLUMN bsky.blocks.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.blocks.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.lists (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  actor_id           int4 NOT NULL,
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
COMMENT ON TABLE bsky.lists IS 'Lists of accounts (app.bsky.graph.list).';
COMMENT ON COLUMN bsky.lists.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.lists.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.lists.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.lists.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.lists.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.lists.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.lists.purpose IS 'What it is for: app.bsky.graph.defs#curatelist, #modlist or #referencelist.';
COMMENT ON COLUMN bsky.lists.name IS 'Name.';
COMMENT ON COLUMN bsky.lists.description IS 'Description.';
COMMENT ON COLUMN bsky.lists.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.lists.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.lists.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.lists.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.list_items (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  list_rkey     int8,
  actor_id      int4 NOT NULL,
  subject_actor int4 NOT NULL,
  list_actor    int4,
  cid           bytea NOT NULL,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX list_items_subject ON bsky.list_items (subject_actor);
CREATE INDEX list_items_list ON bsky.list_items (list_actor, list_rkey);
COMMENT ON TABLE bsky.list_items IS 'Memberships in lists (app.bsky.graph.listitem). Count only when they are of the list''s owner.';
COMMENT ON COLUMN bsky.list_items.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.list_items.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.list_items.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.list_items.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.list_items.list_rkey IS 'The list: its key, as a number.';
COMMENT ON COLUMN bsky.list_items.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_items.subject_actor IS 'Who is on the list (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_items.list_actor IS 'The list: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_items.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.list_items.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.list_blocks (
  rkey       int8 NOT NULL,
  rev        int8 NOT NULL,
  indexed_at timestamptz NOT NULL,
  created_at timestamptz,
  list_rkey  int8,
  actor_id   int4 NOT NULL,
  list_actor int4,
  cid        bytea NOT NULL,
  extra      jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX list_blocks_list ON bsky.list_blocks (list_actor, list_rkey);
COMMENT ON TABLE bsky.list_blocks IS 'Blocks of everybody on a list (app.bsky.graph.listblock).';
COMMENT ON COLUMN bsky.list_blocks.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.list_blocks.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.list_blocks.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.list_blocks.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.list_blocks.list_rkey IS 'The list: its key, as a number.';
COMMENT ON COLUMN bsky.list_blocks.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_blocks.list_actor IS 'The list: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.list_blocks.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.list_blocks.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.starter_packs (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  list_rkey          int8,
  actor_id           int4 NOT NULL,
  list_actor         int4,
  cid                bytea NOT NULL,
  name               text,
  description        text,
  description_facets jsonb,
  feeds              text[],
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.starter_packs IS 'Starter packs for newcomers (app.bsky.graph.starterpack).';
COMMENT ON COLUMN bsky.starter_packs.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.starter_packs.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.starter_packs.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.starter_packs.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.starter_packs.list_rkey IS 'The list of its accounts: its key, as a number.';
COMMENT ON COLUMN bsky.starter_packs.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.starter_packs.list_actor IS 'The list of its accounts: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.starter_packs.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.starter_packs.name IS 'Name.';
COMMENT ON COLUMN bsky.starter_packs.description IS 'Description.';
COMMENT ON COLUMN bsky.starter_packs.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.starter_packs.feeds IS 'Its feed generators (AT-URIs).';
COMMENT ON COLUMN bsky.starter_packs.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.verifications (
  rkey          int8 NOT NULL,
  rev           int8 NOT NULL,
  indexed_at    timestamptz NOT NULL,
  created_at    timestamptz,
  actor_id      int4 NOT NULL,
  subject_actor int4 NOT NULL,
  cid           bytea NOT NULL,
  handle        text,
  display_name  text,
  extra         jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX verifications_subject ON bsky.verifications (subject_actor);
COMMENT ON TABLE bsky.verifications IS 'One account vouching for another (app.bsky.graph.verification).';
COMMENT ON COLUMN bsky.verifications.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.verifications.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.verifications.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.verifications.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.verifications.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.verifications.subject_actor IS 'Who is verified (bsky.actors.id).';
COMMENT ON COLUMN bsky.verifications.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.verifications.handle IS 'The handle at that time; the verification holds while it is the same.';
COMMENT ON COLUMN bsky.verifications.display_name IS 'The display name at that time; likewise.';
COMMENT ON COLUMN bsky.verifications.extra IS 'What the record has besides these columns; null when nothing.';
