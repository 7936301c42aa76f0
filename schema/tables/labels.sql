-- The labels of accounts, records and other resources (com.atproto.label.subscribeLabels). A label has no record key: its
-- labeler, subject and value identify it.

CREATE TABLE bsky.labels (
  subject_rkey       int8        NOT NULL,
  seq                int8        NOT NULL,
  cts                timestamptz NOT NULL,
  exp                timestamptz,
  indexed_at         timestamptz NOT NULL,
  actor_id           int8        NOT NULL,
  subject_actor      int8        NOT NULL,
  subject_collection int4        NOT NULL,
  neg                boolean     NOT NULL,
  cid                bytea,
  val                text        NOT NULL,
  PRIMARY KEY (actor_id, subject_actor, subject_collection, subject_rkey, val)
);
CREATE INDEX labels_subject ON bsky.labels (subject_actor, subject_collection, subject_rkey);
CREATE INDEX labels_val ON bsky.labels (val);
COMMENT ON TABLE bsky.labels IS 'The newest label of each labeler for each subject and value. Negated and expired labels are included.';
COMMENT ON COLUMN bsky.labels.subject_rkey IS 'The record key of the labelled record, as a number. If subject_actor is 0, the number of the URI: bsky.rkey_text(0, 0, subject_rkey) is its text. 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels.seq IS 'The sequence number of the labeler''s frame that contained the label.';
COMMENT ON COLUMN bsky.labels.cts IS 'The creation time that the labeler states. The newest label counts, by cts and then by seq.';
COMMENT ON COLUMN bsky.labels.exp IS 'The time at which the label expires; null: never.';
COMMENT ON COLUMN bsky.labels.indexed_at IS 'The time at which this label was indexed.';
COMMENT ON COLUMN bsky.labels.actor_id IS 'The account number of the labeler (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id); 0: the subject is another URI, or an AT-URI with a handle.';
COMMENT ON COLUMN bsky.labels.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is no record.';
COMMENT ON COLUMN bsky.labels.neg IS 'True if the labeler negated the label. The row stays, so that a repetition does not restore the label.';
COMMENT ON COLUMN bsky.labels.cid IS 'SHA-256 of the labelled version (bsky.cid_text returns the CID); null: all versions.';
COMMENT ON COLUMN bsky.labels.val IS 'The value of the label, such as porn or !hide.';
