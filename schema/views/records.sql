-- The view of the records without a table of their own, and the view of all records.

CREATE OR REPLACE VIEW bsky.records_view AS
SELECT 'at://' || a.did || '/' || c.nsid || '/' || bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS uri,
       a.did, a.handle,
       c.nsid AS collection,
       t.record, t.invalid_reason, t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.actor_id, t.collection_id, t.rkey,
       coalesce(a.handle, a.did) AS name,
       bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS rkey_text
FROM bsky.records t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.collections c ON c.id = t.collection_id
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.records_view IS 'The records of collections without a table, and the records that violate their lexicon.';
COMMENT ON COLUMN bsky.records_view.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.records_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.records_view.handle IS 'The handle of the author; null if it is not known.';
COMMENT ON COLUMN bsky.records_view.collection IS 'The NSID of the collection.';
COMMENT ON COLUMN bsky.records_view.record IS 'The whole record, without NUL characters.';
COMMENT ON COLUMN bsky.records_view.invalid_reason IS 'The reason why the record violates its lexicon, which is built in or was added with `skua lexicon add`. Null: it is valid, or its collection has no lexicon.';
COMMENT ON COLUMN bsky.records_view.indexed_at IS 'The time at which this version of the record was indexed.';
COMMENT ON COLUMN bsky.records_view.cid IS 'The CID of this version of the record.';
COMMENT ON COLUMN bsky.records_view.rev IS 'The newest known revision of the repository that contains the row, as text.';
COMMENT ON COLUMN bsky.records_view.actor_id IS 'The account number of the author. The key of the table is actor_id, collection_id and rkey.';
COMMENT ON COLUMN bsky.records_view.collection_id IS 'The collection of the record (bsky.collections.id).';
COMMENT ON COLUMN bsky.records_view.rkey IS 'The record key, as a number. The key of the table is actor_id, collection_id and rkey.';
COMMENT ON COLUMN bsky.records_view.name IS 'The handle of the author, or its DID if it has no handle.';
COMMENT ON COLUMN bsky.records_view.rkey_text IS 'The record key as text. Use it in JavaScript, whose numbers are exact up to 2^53 only.';

-- A part for each table of skua.record_tables. The condition on cid leaves out the stubs. In the subquery, beside bsky.posts, it
-- would keep a condition on did from using the primary key of each table.
DO $make$
BEGIN
  EXECUTE format($view$
    CREATE OR REPLACE VIEW bsky.all_records AS
    SELECT 'at://' || a.did || '/' || c.nsid || '/' || bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS uri,
           a.did,
           c.nsid AS collection,
           bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS rkey,
           bsky.cid_text(t.cid) AS cid,
           bsky.tid_text(t.rev) AS rev,
           t.indexed_at, t.actor_id
    FROM (
        %s
        UNION ALL
        SELECT t.actor_id, t.collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.records t
    ) t
    LEFT JOIN bsky.actors a ON a.id = t.actor_id
    LEFT JOIN bsky.collections c ON c.id = t.collection_id
    WHERE t.cid IS NOT NULL
    $view$, (
    SELECT string_agg(format('SELECT t.actor_id, %s AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.%I t',
                             r.collection_id, r.name), ' UNION ALL ' ORDER BY r.collection_id)
    FROM skua.record_tables AS r));
END
$make$;
COMMENT ON VIEW bsky.all_records IS 'The current records of all tables, without stubs. Records of inactive accounts are included.';
COMMENT ON COLUMN bsky.all_records.uri IS 'The AT-URI of the record.';
COMMENT ON COLUMN bsky.all_records.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.all_records.collection IS 'The NSID of the collection.';
COMMENT ON COLUMN bsky.all_records.rkey IS 'The record key, as text.';
COMMENT ON COLUMN bsky.all_records.cid IS 'The CID of this version of the record.';
COMMENT ON COLUMN bsky.all_records.rev IS 'The newest known revision of the repository that contains the row, as text.';
COMMENT ON COLUMN bsky.all_records.indexed_at IS 'The time at which this version of the record was indexed.';
COMMENT ON COLUMN bsky.all_records.actor_id IS 'The account number of the author.';
