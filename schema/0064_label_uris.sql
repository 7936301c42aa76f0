-- Labels on resources that are neither an account nor a record named by DID, such as https://example.com. The text of the
-- URI is a key without account and collection in bsky.rkeys, so that a row of bsky.labels remains as small as the others.

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
       t.val,
       t.cts,
       t.exp,
       t.indexed_at,
       t.seq,
       t.actor_id,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey,
       coalesce(a.handle, a.did) AS name
FROM bsky.labels t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors subject ON subject.id = t.subject_actor
LEFT JOIN bsky.collections subject_c ON subject_c.id = t.subject_collection
WHERE NOT t.neg AND (t.exp IS NULL OR t.exp > now()) AND a.active IS NOT FALSE;

-- A URL of bsky.app can be the address of an account or a record, and the subject of a label itself.
CREATE FUNCTION bsky.labels_of(subject text) RETURNS SETOF bsky.labels_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.*
  FROM (SELECT bsky.actor_id(subject), 0, 0::int8
        WHERE subject ~ '^(@|at://|https://bsky\.app/profile/)?[^/]+$'
        UNION ALL SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(subject) k
        UNION ALL SELECT 0, 0, bsky.rkey_number(subject)) AS k(actor_id, collection_id, rkey)
  CROSS JOIN LATERAL (
    SELECT l.* FROM bsky.labels_view l
    WHERE l.subject_actor = k.actor_id AND l.subject_collection = k.collection_id AND l.subject_rkey = k.rkey OFFSET 0) p
$$;
COMMENT ON FUNCTION bsky.labels_of(text) IS 'The labels in force of an account, a record or another resource, as bsky.labels_view has them. The subject is a DID, a handle, an AT-URI, a bsky.app URL, or any other URI, exactly as the labeler wrote it.';

COMMENT ON COLUMN bsky.labels.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id); 0: the subject is another URI, or an AT-URI with a handle.';
COMMENT ON COLUMN bsky.labels_view.subject_actor IS 'The labelled account, or the account of the labelled record (bsky.actors.id); 0: the subject is another URI, or an AT-URI with a handle.';
COMMENT ON COLUMN bsky.labels.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is no record.';
COMMENT ON COLUMN bsky.labels_view.subject_collection IS 'The collection of the labelled record (bsky.collections.id); 0: the subject is no record.';
COMMENT ON COLUMN bsky.labels.subject_rkey IS 'The record key of the labelled record, as a number. If subject_actor is 0, the number of the URI: bsky.rkey_text(0, 0, subject_rkey) is its text. 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels_view.subject_rkey IS 'The record key of the labelled record, as a number. If subject_actor is 0, the number of the URI: bsky.rkey_text(0, 0, subject_rkey) is its text. 0: the subject is an account.';
COMMENT ON COLUMN bsky.labels_view.subject_uri IS 'The AT-URI of the labelled record, at:// and the DID of the labelled account, or the URI of another resource.';
COMMENT ON COLUMN bsky.labels_view.subject_did IS 'The DID of the labelled account, or of the account of the labelled record; null: the subject is another URI.';
COMMENT ON VIEW bsky.labels_view IS 'The labels in force: neither negated nor expired. To find those of a subject, use bsky.labels_of, or compare keys and not URIs: bsky.resolve_uri returns the key of a record.';
COMMENT ON TABLE bsky.rkeys IS 'The texts of the record keys that cannot be computed from their numbers: all except timestamp identifiers and self. With account and collection 0: the URIs of labels on other resources.';
COMMENT ON COLUMN bsky.rkeys.actor_id IS 'The account (bsky.actors.id); 0: text is the URI of a label.';
COMMENT ON COLUMN bsky.rkeys.collection_id IS 'The collection (bsky.collections.id); 0: text is the URI of a label.';
COMMENT ON COLUMN bsky.rkeys.text IS 'The text of the record key, or the URI.';

COMMENT ON COLUMN skua.change_log.ref_actor IS 'The account of the target (bsky.actors.id); 0: the target is the URI of a label (bsky.rkeys).';

-- A labeler needs neither a repository nor a host.
COMMENT ON COLUMN skua.identities.signing_key IS 'The public key of the account''s commits, as a multikey (z...); null: the account has none, such as a labeler without a repository, or the DID is deactivated.';
