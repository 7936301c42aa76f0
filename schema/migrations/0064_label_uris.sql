-- Labels on resources that are neither an account nor a record named by DID, such as https://example.com. The text of the
-- URI is a key without account and collection in bsky.rkeys, so that a row of bsky.labels remains as small as the others.

COMMENT ON COLUMN bsky.labels.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id); 0: the subject is another URI, or an AT-URI with a handle.';
COMMENT ON COLUMN bsky.labels.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is no record.';
COMMENT ON COLUMN bsky.labels.subject_rkey IS 'The record key of the labelled record, as a number. If subject_actor is 0, the number of the URI: bsky.rkey_text(0, 0, subject_rkey) is its text. 0: the subject is an account.';
COMMENT ON TABLE bsky.rkeys IS 'The texts of the record keys that cannot be computed from their numbers: all except timestamp identifiers and self. With account and collection 0: the URIs of labels on other resources.';
COMMENT ON COLUMN bsky.rkeys.actor_id IS 'The account (bsky.actors.id); 0: text is the URI of a label.';
COMMENT ON COLUMN bsky.rkeys.collection_id IS 'The collection (bsky.collections.id); 0: text is the URI of a label.';
COMMENT ON COLUMN bsky.rkeys.text IS 'The text of the record key, or the URI.';
COMMENT ON COLUMN skua.change_log.ref_actor IS 'The account of the target (bsky.actors.id); 0: the target is the URI of a label (bsky.rkeys).';
COMMENT ON COLUMN skua.identities.signing_key IS 'The public key of the account''s commits, as a multikey (z...); null: the account has none, such as a labeler without a repository, or the DID is deactivated.';
