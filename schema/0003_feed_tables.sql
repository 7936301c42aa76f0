-- Posts, and what people do with them.
-- Columns stand widest first, so that no row has padding. No foreign keys and no triggers, so that the
-- tables can be spread over servers by actor_id.

CREATE TABLE bsky.posts (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  parent_rkey      int8,
  root_rkey        int8,
  quote_rkey       int8,
  actor_id         int4 NOT NULL,
  parent_actor     int4,
  root_actor       int4,
  quote_actor      int4,
  quote_collection int4,
  is_deleted       boolean NOT NULL DEFAULT false,
  cid              bytea,
  text             text,
  langs            text[],
  tags             text[],
  labels           text[],
  facets           jsonb,
  embed            jsonb,
  parent_cid       bytea,
  root_cid         bytea,
  quote_cid        bytea,
  extra            jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX posts_parent ON bsky.posts (parent_actor, parent_rkey) WHERE parent_actor IS NOT NULL;
CREATE INDEX posts_root ON bsky.posts (root_actor, root_rkey) WHERE root_actor IS NOT NULL;
CREATE INDEX posts_quote ON bsky.posts (quote_actor, quote_rkey) WHERE quote_actor IS NOT NULL;
COMMENT ON TABLE bsky.posts IS 'Posts (app.bsky.feed.post). A row whose cid is null is a stub: a post that others refer to and that was not seen, or that was deleted.';
COMMENT ON COLUMN bsky.posts.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.posts.rev IS 'The newest revision of the account''s repository at which the row is known to hold; 0: a stub that was never seen.';
COMMENT ON COLUMN bsky.posts.indexed_at IS 'When this version of the record was indexed; of a stub, when the row was made.';
COMMENT ON COLUMN bsky.posts.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.posts.parent_rkey IS 'The post it answers: its key, as a number.';
COMMENT ON COLUMN bsky.posts.root_rkey IS 'The first post of its thread: its key, as a number.';
COMMENT ON COLUMN bsky.posts.quote_rkey IS 'The record it quotes: its key, as a number.';
COMMENT ON COLUMN bsky.posts.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts.parent_actor IS 'The post it answers: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts.root_actor IS 'The first post of its thread: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts.quote_actor IS 'The record it quotes: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.posts.quote_collection IS 'The record it quotes: its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.posts.is_deleted IS 'A stub whose post was deleted.';
COMMENT ON COLUMN bsky.posts.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID); null: a stub.';
COMMENT ON COLUMN bsky.posts.text IS 'The text. A NUL in it was removed.';
COMMENT ON COLUMN bsky.posts.langs IS 'Language tags that the author chose.';
COMMENT ON COLUMN bsky.posts.tags IS 'Tags besides those in the text.';
COMMENT ON COLUMN bsky.posts.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.posts.facets IS 'Mentions, links and tags in the text, as in the record (bsky.post_facets_view takes them apart).';
COMMENT ON COLUMN bsky.posts.embed IS 'Images, video, link card or quoted record, as in the record.';
COMMENT ON COLUMN bsky.posts.parent_cid IS 'The post it answers: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.posts.root_cid IS 'The first post of its thread: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.posts.quote_cid IS 'The record it quotes: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.posts.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.likes (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  subject_rkey       int8,
  via_rkey           int8,
  actor_id           int4 NOT NULL,
  subject_actor      int4,
  subject_collection int4,
  via_actor          int4,
  cid                bytea NOT NULL,
  subject_cid        bytea,
  via_cid            bytea,
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey);
COMMENT ON TABLE bsky.likes IS 'Likes of posts, feed generators and labelers (app.bsky.feed.like).';
COMMENT ON COLUMN bsky.likes.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.likes.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.likes.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.likes.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.likes.subject_rkey IS 'What is liked: its key, as a number.';
COMMENT ON COLUMN bsky.likes.via_rkey IS 'The repost through which it was seen: its key, as a number.';
COMMENT ON COLUMN bsky.likes.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.likes.subject_actor IS 'What is liked: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.likes.subject_collection IS 'What is liked: its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.likes.via_actor IS 'The repost through which it was seen: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.likes.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.likes.subject_cid IS 'What is liked: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.likes.via_cid IS 'The repost through which it was seen: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.likes.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.reposts (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  subject_rkey       int8,
  via_rkey           int8,
  actor_id           int4 NOT NULL,
  subject_actor      int4,
  subject_collection int4,
  via_actor          int4,
  cid                bytea NOT NULL,
  subject_cid        bytea,
  via_cid            bytea,
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX reposts_subject ON bsky.reposts (subject_actor, subject_rkey);
COMMENT ON TABLE bsky.reposts IS 'Reposts (app.bsky.feed.repost).';
COMMENT ON COLUMN bsky.reposts.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.reposts.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.reposts.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.reposts.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.reposts.subject_rkey IS 'What is reposted: its key, as a number.';
COMMENT ON COLUMN bsky.reposts.via_rkey IS 'The repost through which it was seen: its key, as a number.';
COMMENT ON COLUMN bsky.reposts.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.reposts.subject_actor IS 'What is reposted: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.reposts.subject_collection IS 'What is reposted: its collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.reposts.via_actor IS 'The repost through which it was seen: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.reposts.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.reposts.subject_cid IS 'What is reposted: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.reposts.via_cid IS 'The repost through which it was seen: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.reposts.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.threadgates (
  rkey            int8 NOT NULL,
  rev             int8 NOT NULL,
  indexed_at      timestamptz NOT NULL,
  created_at      timestamptz,
  post_rkey       int8,
  actor_id        int4 NOT NULL,
  post_actor      int4,
  is_restricted   boolean NOT NULL,
  allow_mentioned boolean NOT NULL,
  allow_following boolean NOT NULL,
  allow_followers boolean NOT NULL,
  cid             bytea NOT NULL,
  allow_lists     text[],
  hidden_replies  text[],
  extra           jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.threadgates IS 'Who may reply in a thread (app.bsky.feed.threadgate). Counts only when it is of the post''s author and has the post''s key.';
COMMENT ON COLUMN bsky.threadgates.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.threadgates.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.threadgates.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.threadgates.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.threadgates.post_rkey IS 'The thread''s first post: its key, as a number.';
COMMENT ON COLUMN bsky.threadgates.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.threadgates.post_actor IS 'The thread''s first post: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.threadgates.is_restricted IS 'Only those whom a rule names may reply, nobody if there is no rule. False: everybody may.';
COMMENT ON COLUMN bsky.threadgates.allow_mentioned IS 'Accounts that the post mentions may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_following IS 'Accounts that the author follows may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_followers IS 'Accounts that follow the author may reply.';
COMMENT ON COLUMN bsky.threadgates.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.threadgates.allow_lists IS 'Members of these lists may reply (AT-URIs).';
COMMENT ON COLUMN bsky.threadgates.hidden_replies IS 'Replies that the author hid (AT-URIs).';
COMMENT ON COLUMN bsky.threadgates.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.postgates (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  post_rkey          int8,
  actor_id           int4 NOT NULL,
  post_actor         int4,
  embedding_disabled boolean NOT NULL,
  cid                bytea NOT NULL,
  detached_uris      text[],
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.postgates IS 'Who may quote a post (app.bsky.feed.postgate). Counts only when it is of the post''s author and has the post''s key.';
COMMENT ON COLUMN bsky.postgates.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.postgates.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.postgates.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.postgates.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.postgates.post_rkey IS 'The post: its key, as a number.';
COMMENT ON COLUMN bsky.postgates.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.postgates.post_actor IS 'The post: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.postgates.embedding_disabled IS 'Nobody but the author may quote it.';
COMMENT ON COLUMN bsky.postgates.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.postgates.detached_uris IS 'Quoting posts that the author detached (AT-URIs).';
COMMENT ON COLUMN bsky.postgates.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.feed_generators (
  rkey                 int8 NOT NULL,
  rev                  int8 NOT NULL,
  indexed_at           timestamptz NOT NULL,
  created_at           timestamptz,
  actor_id             int4 NOT NULL,
  accepts_interactions boolean,
  cid                  bytea NOT NULL,
  service_did          text,
  display_name         text,
  description          text,
  description_facets   jsonb,
  avatar_cid           text,
  content_mode         text,
  labels               text[],
  extra                jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.feed_generators IS 'Feeds that people make (app.bsky.feed.generator).';
COMMENT ON COLUMN bsky.feed_generators.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.feed_generators.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.feed_generators.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.feed_generators.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.feed_generators.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.feed_generators.accepts_interactions IS 'Whether it wants to hear what people do with its posts.';
COMMENT ON COLUMN bsky.feed_generators.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.feed_generators.service_did IS 'The service that answers for the feed.';
COMMENT ON COLUMN bsky.feed_generators.display_name IS 'Name.';
COMMENT ON COLUMN bsky.feed_generators.description IS 'Description.';
COMMENT ON COLUMN bsky.feed_generators.description_facets IS 'Mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.feed_generators.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.feed_generators.content_mode IS 'What it holds, for example app.bsky.feed.defs#contentModeVideo.';
COMMENT ON COLUMN bsky.feed_generators.labels IS 'Content warnings that the author chose.';
COMMENT ON COLUMN bsky.feed_generators.extra IS 'What the record has besides these columns; null when nothing.';
