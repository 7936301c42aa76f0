-- What accounts say of themselves: one record each, under the key self.
-- Columns stand widest first, so that no row has padding. No foreign keys and no triggers, so that the
-- tables can be spread over servers by actor_id.

CREATE TABLE bsky.profiles (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  pinned_rkey      int8,
  joined_via_rkey  int8,
  actor_id         int4 NOT NULL,
  pinned_actor     int4,
  joined_via_actor int4,
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
COMMENT ON TABLE bsky.profiles IS 'Profiles (app.bsky.actor.profile), one an account.';
COMMENT ON COLUMN bsky.profiles.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.profiles.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.profiles.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.profiles.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.profiles.pinned_rkey IS 'The post that is pinned: its key, as a number.';
COMMENT ON COLUMN bsky.profiles.joined_via_rkey IS 'The starter pack through which the account joined: its key, as a number.';
COMMENT ON COLUMN bsky.profiles.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.profiles.pinned_actor IS 'The post that is pinned: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.profiles.joined_via_actor IS 'The starter pack through which the account joined: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.profiles.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.profiles.display_name IS 'Name.';
COMMENT ON COLUMN bsky.profiles.description IS 'Description.';
COMMENT ON COLUMN bsky.profiles.pronouns IS 'Pronouns.';
COMMENT ON COLUMN bsky.profiles.website IS 'Website.';
COMMENT ON COLUMN bsky.profiles.avatar_cid IS 'CID of the picture.';
COMMENT ON COLUMN bsky.profiles.banner_cid IS 'CID of the banner.';
COMMENT ON COLUMN bsky.profiles.labels IS 'Labels that the account put on itself.';
COMMENT ON COLUMN bsky.profiles.pinned_cid IS 'The post that is pinned: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.profiles.joined_via_cid IS 'The starter pack through which the account joined: SHA-256 of the version that was meant.';
COMMENT ON COLUMN bsky.profiles.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.statuses (
  rkey             int8 NOT NULL,
  rev              int8 NOT NULL,
  indexed_at       timestamptz NOT NULL,
  created_at       timestamptz,
  duration_minutes int8,
  actor_id         int4 NOT NULL,
  cid              bytea NOT NULL,
  status           text,
  embed            jsonb,
  extra            jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.statuses IS 'What an account is doing now (app.bsky.actor.status), one an account.';
COMMENT ON COLUMN bsky.statuses.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.statuses.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.statuses.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.statuses.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.statuses.duration_minutes IS 'How long it holds, from created_at.';
COMMENT ON COLUMN bsky.statuses.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.statuses.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.statuses.status IS 'For example app.bsky.actor.status#live.';
COMMENT ON COLUMN bsky.statuses.embed IS 'Link card, as in the record.';
COMMENT ON COLUMN bsky.statuses.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.chat_declarations (
  rkey           int8 NOT NULL,
  rev            int8 NOT NULL,
  indexed_at     timestamptz NOT NULL,
  created_at     timestamptz,
  actor_id       int4 NOT NULL,
  cid            bytea NOT NULL,
  allow_incoming text,
  extra          jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.chat_declarations IS 'Who may write an account direct messages (chat.bsky.actor.declaration), one an account.';
COMMENT ON COLUMN bsky.chat_declarations.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.chat_declarations.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.chat_declarations.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.chat_declarations.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.chat_declarations.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.chat_declarations.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.chat_declarations.allow_incoming IS 'all, none or following.';
COMMENT ON COLUMN bsky.chat_declarations.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.notification_declarations (
  rkey                int8 NOT NULL,
  rev                 int8 NOT NULL,
  indexed_at          timestamptz NOT NULL,
  created_at          timestamptz,
  actor_id            int4 NOT NULL,
  cid                 bytea NOT NULL,
  allow_subscriptions text,
  extra               jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.notification_declarations IS 'Who may subscribe to an account''s posts (app.bsky.notification.declaration), one an account.';
COMMENT ON COLUMN bsky.notification_declarations.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.notification_declarations.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.notification_declarations.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.notification_declarations.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.notification_declarations.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.notification_declarations.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.notification_declarations.allow_subscriptions IS 'followers, mutuals or none.';
COMMENT ON COLUMN bsky.notification_declarations.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.germ_declarations (
  rkey        int8 NOT NULL,
  rev         int8 NOT NULL,
  indexed_at  timestamptz NOT NULL,
  created_at  timestamptz,
  actor_id    int4 NOT NULL,
  cid         bytea NOT NULL,
  version     text,
  current_key bytea,
  extra       jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.germ_declarations IS 'How an account is reached by Germ messages (com.germnetwork.declaration), one an account.';
COMMENT ON COLUMN bsky.germ_declarations.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.germ_declarations.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.germ_declarations.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.germ_declarations.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.germ_declarations.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.germ_declarations.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.germ_declarations.version IS 'Version of the declaration.';
COMMENT ON COLUMN bsky.germ_declarations.current_key IS 'Public key.';
COMMENT ON COLUMN bsky.germ_declarations.extra IS 'What the record has besides these columns; null when nothing.';

CREATE TABLE bsky.labelers (
  rkey                int8 NOT NULL,
  rev                 int8 NOT NULL,
  indexed_at          timestamptz NOT NULL,
  created_at          timestamptz,
  actor_id            int4 NOT NULL,
  cid                 bytea NOT NULL,
  policies            jsonb,
  labels              text[],
  reason_types        text[],
  subject_types       text[],
  subject_collections text[],
  extra               jsonb,
  PRIMARY KEY (actor_id, rkey)
);
COMMENT ON TABLE bsky.labelers IS 'Labeling services (app.bsky.labeler.service), one an account.';
COMMENT ON COLUMN bsky.labelers.rkey IS 'The record''s key, as a number (bsky.rkey_text makes it text).';
COMMENT ON COLUMN bsky.labelers.rev IS 'The newest revision of the account''s repository at which the row is known to hold (bsky.tid_text makes it text).';
COMMENT ON COLUMN bsky.labelers.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.labelers.created_at IS 'When its author says that it was made. Can be any time.';
COMMENT ON COLUMN bsky.labelers.actor_id IS 'Whose record it is (bsky.actors.id).';
COMMENT ON COLUMN bsky.labelers.cid IS 'SHA-256 of the record''s block (bsky.cid_text makes the CID).';
COMMENT ON COLUMN bsky.labelers.policies IS 'Label values and what they mean, as in the record.';
COMMENT ON COLUMN bsky.labelers.labels IS 'Labels that the account put on itself.';
COMMENT ON COLUMN bsky.labelers.reason_types IS 'Reasons for which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_types IS 'Kinds of subject on which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers.subject_collections IS 'Collections on which it takes reports; null: all.';
COMMENT ON COLUMN bsky.labelers.extra IS 'What the record has besides these columns; null when nothing.';
