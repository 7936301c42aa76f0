-- Posts, their likes and reposts, the rules of threads and quotes, and custom feeds.
--
-- Columns are sorted by width, widest first, so that rows have no padding; a migration adds columns at the end. There are
-- no foreign keys and no triggers, so that these tables can be distributed over servers by actor_id. skua.comment_on_records
-- writes the comments of tables, and of the columns that all tables of records have (views/).

CREATE TABLE bsky.posts (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  parent_rkey      int8,
  root_rkey        int8,
  quote_rkey       int8,
  actor_id         int8 NOT NULL,
  parent_actor     int8,
  root_actor       int8,
  quote_actor      int8,
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
  -- The following columns are not fields of the record. They are computed from facets, tags and embed
  -- (libs/foundation/records/post_content.cpp).
  mentions           int8[],
  all_tags           text[],
  links              text[],
  link_hosts         text[],
  images_without_alt int4,
  has_video          boolean,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX posts_parent ON bsky.posts (parent_actor, parent_rkey) WHERE parent_actor IS NOT NULL;
CREATE INDEX posts_root ON bsky.posts (root_actor, root_rkey) WHERE root_actor IS NOT NULL;
CREATE INDEX posts_quote ON bsky.posts (quote_actor, quote_rkey) WHERE quote_actor IS NOT NULL;
-- The order of bsky.posts_view.sort_at. Stubs are left out, because no view shows them.
CREATE INDEX posts_sort_at ON bsky.posts (least(created_at, indexed_at)) WHERE cid IS NOT NULL;
-- PostgreSQL does not use the statistics of a partial index. Without these it estimates a third of the table for each interval
-- of time.
CREATE STATISTICS bsky.posts_sort_at ON (least(created_at, indexed_at)) FROM bsky.posts;
COMMENT ON STATISTICS bsky.posts_sort_at IS 'The distribution of the posts over sort_at, for the planner.';
CREATE INDEX posts_content ON bsky.posts USING gin (mentions, all_tags, links, link_hosts)
  WHERE mentions IS NOT NULL OR all_tags IS NOT NULL OR links IS NOT NULL OR link_hosts IS NOT NULL;
COMMENT ON COLUMN bsky.posts.is_deleted IS 'True for a stub of a deleted post.';
COMMENT ON COLUMN bsky.posts.text IS 'The text, without NUL characters.';
COMMENT ON COLUMN bsky.posts.langs IS 'The languages that the author states, as language tags.';
COMMENT ON COLUMN bsky.posts.tags IS 'The tags that are not in the text.';
COMMENT ON COLUMN bsky.posts.labels IS 'The content warnings that the author chose.';
COMMENT ON COLUMN bsky.posts.facets IS 'The mentions, links and tags in the text, as in the record. bsky.post_facets_view has one per row. For conditions use bsky.posts.mentions, bsky.posts.all_tags and bsky.posts.links, which have an index.';
COMMENT ON COLUMN bsky.posts.embed IS 'The images, video, link card or quoted record, as in the record.';
COMMENT ON COLUMN bsky.posts.mentions IS 'The first 20 accounts that the text mentions (bsky.actors.id), each once; null if there are none. An index supports mentions @> ARRAY[bsky.actor_id(...)].';
COMMENT ON COLUMN bsky.posts.all_tags IS 'The first 50 tags of the text, then of the field tags, each once, in their normal form (bsky.normal_tag); null if there are none. Tags of more than 640 bytes are left out. An index supports all_tags @> ARRAY[''art''].';
COMMENT ON COLUMN bsky.posts.links IS 'The first 50 links of the text, then of the link card, each once and unchanged; null if there are none. Links of more than 2048 bytes are left out. An index supports links @> ARRAY[...].';
COMMENT ON COLUMN bsky.posts.link_hosts IS 'The hosts of the http and https URLs in links, each once, without port and in lower case; null if there are none. An internationalized host stays as it was written. An index supports link_hosts @> ARRAY[''example.com''].';
COMMENT ON COLUMN bsky.posts.images_without_alt IS 'The number of images without alt text; null if the post has no image.';
COMMENT ON COLUMN bsky.posts.has_video IS 'True if the post has a video, otherwise null.';

CREATE TABLE bsky.likes (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  subject_rkey       int8,
  via_rkey           int8,
  actor_id           int8 NOT NULL,
  subject_actor      int8,
  via_actor          int8,
  subject_collection int4,
  cid                bytea NOT NULL,
  subject_cid        bytea,
  via_cid            bytea,
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
-- With actor_id the writer finds other likes of the same subject by the same account, which decide whether a like counts.
CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id);

CREATE TABLE bsky.reposts (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  subject_rkey       int8,
  via_rkey           int8,
  actor_id           int8 NOT NULL,
  subject_actor      int8,
  via_actor          int8,
  subject_collection int4,
  cid                bytea NOT NULL,
  subject_cid        bytea,
  via_cid            bytea,
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE INDEX reposts_subject ON bsky.reposts (subject_actor, subject_rkey, actor_id);

CREATE TABLE bsky.threadgates (
  rkey            int8 NOT NULL,
  rev             int8 NOT NULL,
  indexed_at      timestamptz NOT NULL,
  created_at      timestamptz,
  post_rkey       int8,
  actor_id        int8 NOT NULL,
  post_actor      int8,
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
COMMENT ON COLUMN bsky.threadgates.is_restricted IS 'True if only the accounts that a rule names may reply; without a rule nobody may. False if everybody may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_mentioned IS 'True if the accounts that the post mentions may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_following IS 'True if the accounts that the author follows may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_followers IS 'True if the accounts that follow the author may reply.';
COMMENT ON COLUMN bsky.threadgates.allow_lists IS 'The lists whose members may reply, as AT-URIs.';
COMMENT ON COLUMN bsky.threadgates.hidden_replies IS 'The replies that the author hid, as AT-URIs.';

CREATE TABLE bsky.postgates (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  post_rkey          int8,
  actor_id           int8 NOT NULL,
  post_actor         int8,
  embedding_disabled boolean NOT NULL,
  cid                bytea NOT NULL,
  detached_uris      text[],
  extra              jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.postgates.embedding_disabled IS 'True if only the author may quote the post.';
COMMENT ON COLUMN bsky.postgates.detached_uris IS 'The posts whose quotes of this post the author removed, as AT-URIs.';

CREATE TABLE bsky.feed_generators (
  rkey                 int8 NOT NULL,
  rev                  int8 NOT NULL,
  indexed_at           timestamptz NOT NULL,
  created_at           timestamptz,
  actor_id             int8 NOT NULL,
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
COMMENT ON COLUMN bsky.feed_generators.accepts_interactions IS 'True if the service wants to receive the interactions of users with its posts.';
COMMENT ON COLUMN bsky.feed_generators.service_did IS 'The DID of the service that returns the feed.';
COMMENT ON COLUMN bsky.feed_generators.display_name IS 'The name of the feed.';
COMMENT ON COLUMN bsky.feed_generators.description IS 'The description of the feed.';
COMMENT ON COLUMN bsky.feed_generators.description_facets IS 'The mentions, links and tags in the description, as in the record.';
COMMENT ON COLUMN bsky.feed_generators.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.feed_generators.content_mode IS 'The kind of content, such as app.bsky.feed.defs#contentModeVideo.';
COMMENT ON COLUMN bsky.feed_generators.labels IS 'The content warnings that the author chose.';
