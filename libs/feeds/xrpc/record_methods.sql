-- name: xrpc_account
SELECT a.id, a.did, a.handle, a.handle_valid IS TRUE, a.active, a.status,
  EXISTS (SELECT FROM skua.excluded_accounts AS e WHERE e.did = a.did)
FROM bsky.actors AS a
WHERE a.id = (SELECT bsky.actor_id($1::text));

-- name: xrpc_record
SELECT r.cid, r.record::text, r.block
FROM bsky.collections AS c
CROSS JOIN LATERAL bsky.record_json(ARRAY[$1::int8], ARRAY[c.id], ARRAY[bsky.rkey_number($3::text)]) AS r
WHERE c.nsid = $2::text;

-- name: xrpc_records
SELECT r.place, r.cid, r.record::text, r.block
FROM bsky.record_json($1::int8[], $2::int4[], $3::int8[]) AS r
ORDER BY r.place;

-- name: xrpc_collection
SELECT c.id FROM bsky.collections AS c WHERE c.nsid = $1::text;

-- name: xrpc_other_collections
-- The collections in bsky.records. The primary key is read once for each collection.
WITH RECURSIVE found AS (
  (SELECT r.collection_id FROM bsky.records AS r WHERE r.actor_id = $1::int8 ORDER BY r.collection_id LIMIT 1)
  UNION ALL
  SELECT (
    SELECT r.collection_id
    FROM bsky.records AS r
    WHERE r.actor_id = $1::int8 AND r.collection_id > found.collection_id
    ORDER BY r.collection_id
    LIMIT 1
  )
  FROM found
  WHERE found.collection_id IS NOT NULL
)
SELECT c.nsid FROM found JOIN bsky.collections AS c ON c.id = found.collection_id;

-- name: xrpc_identity
SELECT i.handle, i.signing_key, i.pds, i.label_key FROM skua.identities AS i WHERE i.did = $1::text;
