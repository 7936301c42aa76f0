-- name: identities_load
SELECT i.did, coalesce(i.signing_key, ''), coalesce(i.pds, ''), coalesce(i.handle, ''),
  (extract(epoch FROM i.fetched_at) * 1000000)::int8, coalesce(i.label_key, ''),
  (
    SELECT (extract(epoch FROM c.current_at) * 1000000)::int8
    FROM skua.plc_cursor AS c
    WHERE starts_with(i.did, 'did:plc:') AND (c.since IS NULL OR c.since <= i.fetched_at)
  )
FROM unnest($1::text[]) AS asked(did)
JOIN skua.identities i ON i.did = asked.did
WHERE i.signing_key IS NOT NULL AND i.pds IS NOT NULL OR i.label_key IS NOT NULL;

-- name: identities_set_creation
-- Rows that are newer than the imported operation.
UPDATE skua.identities AS t
SET created_at = u.created_at
FROM unnest($1::text[], $2::timestamptz[]) AS u(did, created_at)
WHERE t.did = u.did AND t.created_at IS NULL;
