-- The view of labels in force.

CREATE OR REPLACE VIEW bsky.labels_view AS
SELECT a.did,
       a.handle,
       CASE WHEN t.subject_actor = 0 THEN bsky.rkey_text(0, 0, t.subject_rkey)
            ELSE 'at://' || subject.did
              || CASE WHEN t.subject_collection = 0 THEN ''
                      ELSE '/' || subject_c.nsid || '/'
                           || bsky.rkey_text(t.subject_actor, t.subject_collection, t.subject_rkey) END END AS subject_uri,
       subject.did AS subject_did,
       bsky.cid_text(t.cid) AS subject_cid,
       t.val, t.cts, t.exp, t.indexed_at, t.seq, t.actor_id, t.subject_actor, t.subject_collection, t.subject_rkey,
       coalesce(a.handle, a.did) AS name
FROM bsky.labels t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
WHERE NOT t.neg AND (t.exp IS NULL OR t.exp > now()) AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.labels_view IS 'The labels in force: neither negated nor expired. To find those of a subject, use bsky.labels_of, or compare keys and not URIs: bsky.resolve_uri returns the key of a record.';
COMMENT ON COLUMN bsky.labels_view.did IS 'The DID of the labeler.';
COMMENT ON COLUMN bsky.labels_view.handle IS 'The handle of the labeler; null if it is not known.';
COMMENT ON COLUMN bsky.labels_view.subject_uri IS 'The AT-URI of the labelled record, at:// and the DID of the labelled account, or the URI of another resource.';
COMMENT ON COLUMN bsky.labels_view.subject_did IS 'The DID of the labelled account, or of the account of the labelled record; null: the subject is another URI.';
COMMENT ON COLUMN bsky.labels_view.subject_cid IS 'The CID of the labelled version; null: all versions.';
COMMENT ON COLUMN bsky.labels_view.val IS 'The value of the label, such as porn or !hide.';
COMMENT ON COLUMN bsky.labels_view.cts IS 'The creation time that the labeler states.';
COMMENT ON COLUMN bsky.labels_view.exp IS 'The time at which the label expires; null: never.';
COMMENT ON COLUMN bsky.labels_view.indexed_at IS 'The time at which the label was indexed.';
COMMENT ON COLUMN bsky.labels_view.seq IS 'The sequence number of the labeler''s frame that contained the label.';
COMMENT ON COLUMN bsky.labels_view.actor_id IS 'The account number of the labeler.';
COMMENT ON COLUMN bsky.labels_view.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id); 0: the subject is another URI, or an AT-URI with a handle.';
COMMENT ON COLUMN bsky.labels_view.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is no record.';
COMMENT ON COLUMN bsky.labels_view.subject_rkey IS 'The record key of the labelled record, as a number. If subject_actor is 0, the number of the URI: bsky.rkey_text(0, 0, subject_rkey) is its text. 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels_view.name IS 'The handle of the labeler, or its DID if it has no handle.';
