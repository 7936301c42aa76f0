-- The profile, the status and the declarations of accounts. An account has one record of each collection, with the key self.
--
-- Columns are sorted by width, widest first, so that rows have no padding; a migration adds columns at the end. There are
-- no foreign keys and no triggers, so that these tables can be distributed over servers by actor_id. skua.comment_on_records
-- writes the comments of tables, and of the columns that all tables of records have (views/).

CREATE TABLE bsky.profiles (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  pinned_rkey      int8,
  joined_via_rkey  int8,
  actor_id         int8 NOT NULL,
  pinned_actor     int8,
  joined_via_actor int8,
  cid              bytea NOT NULL,
  display_name     text,
  description      text,
  pronouns         text,
  website          text,
  avatar_cid       text,
  banner_cid       text,
  labels           text[],
  pinned_cid       bytea,
  joined_via_cid   bytea,
  extra            jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.profiles.display_name IS 'The display name.';
COMMENT ON COLUMN bsky.profiles.description IS 'The description of the account.';
COMMENT ON COLUMN bsky.profiles.pronouns IS 'The pronouns of the account''s owner.';
COMMENT ON COLUMN bsky.profiles.website IS 'The address of a website.';
COMMENT ON COLUMN bsky.profiles.avatar_cid IS 'The CID of the picture.';
COMMENT ON COLUMN bsky.profiles.banner_cid IS 'The CID of the banner.';
COMMENT ON COLUMN bsky.profiles.labels IS 'The labels that the account gives itself.';

CREATE TABLE bsky.statuses (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  duration_minutes int8,
  actor_id         int8 NOT NULL,
  cid              bytea NOT NULL,
  status           text,
  embed            jsonb,
  extra            jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.statuses.duration_minutes IS 'The duration of the status from created_at on, in minutes.';
COMMENT ON COLUMN bsky.statuses.status IS 'The status, such as app.bsky.actor.status#live.';
COMMENT ON COLUMN bsky.statuses.embed IS 'The link card, as in the record.';

CREATE TABLE bsky.chat_declarations (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  created_at     timestamptz,
  actor_id       int8 NOT NULL,
  cid            bytea NOT NULL,
  allow_incoming text,
  extra          jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.chat_declarations.allow_incoming IS 'The accounts that may send messages: all, none or following.';

CREATE TABLE bsky.notification_declarations (
  rkey                int8 NOT NULL,
  rev                 int8 NOT NULL,
  indexed_at          timestamptz NOT NULL,
  created_at          timestamptz,
  actor_id            int8 NOT NULL,
  cid                 bytea NOT NULL,
  allow_subscriptions text,
  extra               jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.notification_declarations.allow_subscriptions IS 'The accounts that may subscribe: followers, mutuals or none.';

CREATE TABLE bsky.germ_declarations (
  rkey        int8 NOT NULL,
  rev         int8 NOT NULL,
  indexed_at  timestamptz NOT NULL,
  created_at  timestamptz,
  actor_id    int8 NOT NULL,
  cid         bytea NOT NULL,
  version     text,
  current_key bytea,
  extra       jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.germ_declarations.version IS 'The version of the declaration.';
COMMENT ON COLUMN bsky.germ_declarations.current_key IS 'The public key.';

CREATE TABLE bsky.labelers (
  rkey                int8 NOT NULL,
  rev                 int8 NOT NULL,
  indexed_at          timestamptz NOT NULL,
  created_at          timestamptz,
  actor_id            int8 NOT NULL,
  cid                 bytea NOT NULL,
  policies            jsonb,
  labels              text[],
  reason_types        text[],
  subject_types       text[],
  subject_collections text[],
  extra               jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.labelers.policies IS 'The label values and their definitions, as in the record.';
COMMENT ON COLUMN bsky.labelers.labels IS 'The labels that the account gives itself.';
COMMENT ON COLUMN bsky.labelers.reason_types IS 'The reasons for which the labeler accepts reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_types IS 'The kinds of subject about which the labeler accepts reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_collections IS 'The collections about which the labeler accepts reports; null: all.';

CREATE TABLE bsky.visibility_declarations (
  rkey       int8 NOT NULL,
  rev        int8 NOT NULL,
  indexed_at timestamptz NOT NULL,
  created_at timestamptz,
  actor_id   int8 NOT NULL,
  hide_from_algorithmic_recommendations boolean,
  cid        bytea NOT NULL,
  extra      jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON COLUMN bsky.visibility_declarations.hide_from_algorithmic_recommendations IS 'True if the account asks to hide its posts from algorithmic recommendations. An account without a record does not ask for it.';
