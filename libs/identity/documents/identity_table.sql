-- name: identities_load
-- The columns are the fields of IdentityRow. Only imports set the times of operations.
SELECT i.did, coalesce(i.signing_key, ''), coalesce(i.pds, ''), coalesce(i.handle, ''), i.fetched_at,
  NULL::timestamptz, coalesce(i.label_key, ''), NULL::timestamptz,
  (
    SELECT c.current_at
    FROM skua.plc_cursor AS c
    WHERE starts_with(i.did, 'did:plc:') AND (c.since IS NULL OR c.since <= i.fetched_at)
  )
FROM unnest($1::text[]) AS asked(did)
JOIN skua.identities AS i ON i.did = asked.did
WHERE i.signing_key IS NOT NULL AND i.pds IS NOT NULL OR i.label_key IS NOT NULL;

-- fragment: identities_upsert
-- An empty text becomes null.
INSERT INTO skua.identities AS t (did, signing_key, pds, handle, fetched_at, operation_at, label_key, created_at)
SELECT u.did, nullif(u.signing_key, ''), nullif(u.pds, ''), nullif(u.handle, ''), u.fetched_at, u.operation_at,
  nullif(u.label_key, ''), u.created_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[],
  $8::timestamptz[]) AS u(did, signing_key, pds, handle, fetched_at, operation_at, label_key, created_at)
ON CONFLICT (did)
DO UPDATE SET signing_key = EXCLUDED.signing_key, pds = EXCLUDED.pds, handle = EXCLUDED.handle,
  fetched_at = EXCLUDED.fetched_at, operation_at = EXCLUDED.operation_at, label_key = EXCLUDED.label_key,
  created_at = coalesce(t.created_at, EXCLUDED.created_at)

-- name: identities_save
{{identities_upsert}}
WHERE t.fetched_at <= EXCLUDED.fetched_at;

-- name: identities_import
-- A document that was fetched after the operation includes the operation, and perhaps later operations.
{{identities_upsert}}
WHERE coalesce(t.operation_at, t.fetched_at) <= EXCLUDED.operation_at;

-- name: identities_set_creation
-- Also updates rows that are newer than the imported operation.
UPDATE skua.identities AS t
SET created_at = u.created_at
FROM unnest($1::text[], $2::timestamptz[]) AS u(did, created_at)
WHERE t.did = u.did AND t.created_at IS NULL AND u.created_at IS NOT NULL;
