-- What labelers say of accounts and records (com.atproto.label.subscribeLabels), and the keys that they sign
-- it with.

-- Columns stand widest first. A label has no record: its key is what it says.
CREATE TABLE bsky.labels (
  subject_rkey       int8        NOT NULL,
  seq                int8        NOT NULL,
  cts                timestamptz NOT NULL,
  exp                timestamptz,
  indexed_at         timestamptz NOT NULL,
  actor_id           int4        NOT NULL,
  subject_actor      int4        NOT NULL,
  subject_collection int4        NOT NULL,
  neg                boolean     NOT NULL,
  cid                bytea,
  val                text        NOT NULL,
  PRIMARY KEY (actor_id, subject_actor, subject_collection, subject_rkey, val)
);
CREATE INDEX labels_subject ON bsky.labels (subject_actor, subject_collection, subject_rkey);
CREATE INDEX labels_val ON bsky.labels (val);
COMMENT ON TABLE bsky.labels IS 'Labels: the newest word of each labeler on each subject and value, withdrawals included.';
COMMENT ON COLUMN bsky.labels.subject_rkey IS 'What is labelled: its key, as a number; 0 where subject_collection is 0.';
COMMENT ON COLUMN bsky.labels.seq IS 'The labeler''s sequence number of the frame that brought it.';
COMMENT ON COLUMN bsky.labels.cts IS 'When the labeler says that it was made. The newest word counts, by cts and then by seq.';
COMMENT ON COLUMN bsky.labels.exp IS 'When it ceases to hold; null: never.';
COMMENT ON COLUMN bsky.labels.indexed_at IS 'When this word was indexed.';
COMMENT ON COLUMN bsky.labels.actor_id IS 'The labeler (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels.subject_actor IS 'What is labelled: its account (bsky.actors.id).';
COMMENT ON COLUMN bsky.labels.subject_collection IS 'What is labelled: its collection (bsky.collections.id); 0: the account itself.';
COMMENT ON COLUMN bsky.labels.neg IS 'True: the label was withdrawn. The row stays, so that a replay does not bring it back.';
COMMENT ON COLUMN bsky.labels.cid IS 'What is labelled: SHA-256 of the version that is meant (bsky.cid_text makes the CID); null: any.';
COMMENT ON COLUMN bsky.labels.val IS 'The label, for example porn or !hide.';

CREATE VIEW bsky.labels_view AS
SELECT a.did,
       a.handle,
       'at://' || subject.did
         || CASE WHEN t.subject_collection = 0 THEN ''
                 ELSE '/' || subject_c.nsid || '/'
                      || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) END AS subject_uri,
       subject.did AS subject_did,
       bsky.cid_text(t.cid) AS subject_cid,
       t.val,
       t.cts,
       t.exp,
       t.indexed_at,
       t.seq,
       t.actor_id,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey
FROM bsky.labels t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
WHERE NOT t.neg AND (t.exp IS NULL OR t.exp > now()) AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.labels_view IS 'Labels in force: neither withdrawn nor expired. To find those of a URI, go through bsky.resolve_uri.';
COMMENT ON COLUMN bsky.labels_view.did IS 'The labeler.';
COMMENT ON COLUMN bsky.labels_view.handle IS 'The labeler''s handle, as far as known.';
COMMENT ON COLUMN bsky.labels_view.subject_uri IS 'What is labelled: the AT-URI of a record, or at:// and the DID of an account.';
COMMENT ON COLUMN bsky.labels_view.subject_did IS 'What is labelled: its account.';
COMMENT ON COLUMN bsky.labels_view.subject_cid IS 'What is labelled: CID of the version that is meant; null: any.';
COMMENT ON COLUMN bsky.labels_view.val IS 'The label, for example porn or !hide.';
COMMENT ON COLUMN bsky.labels_view.cts IS 'When the labeler says that it was made.';
COMMENT ON COLUMN bsky.labels_view.exp IS 'When it ceases to hold; null: never.';
COMMENT ON COLUMN bsky.labels_view.indexed_at IS 'When it was indexed.';
COMMENT ON COLUMN bsky.labels_view.seq IS 'The labeler''s sequence number of the frame that brought it.';
COMMENT ON COLUMN bsky.labels_view.actor_id IS 'The labeler''s number.';
COMMENT ON COLUMN bsky.labels_view.subject_actor IS 'The number of the labelled account.';
COMMENT ON COLUMN bsky.labels_view.subject_collection IS 'The number of the labelled record''s collection; 0: the account itself.';
COMMENT ON COLUMN bsky.labels_view.subject_rkey IS 'The labelled record''s key, as a number.';

ALTER TABLE skua.identities ADD COLUMN label_key text;
COMMENT ON COLUMN skua.identities.label_key IS 'The public key that its labels are signed with, as a multikey (z...); null: it has none, or the row is from before it was asked for.';
