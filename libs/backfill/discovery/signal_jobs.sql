-- name: signal_accounts_wanted
SELECT u.did
FROM unnest($1::text[]) AS u(did)
WHERE NOT EXISTS (SELECT 1 FROM skua.repositories AS r WHERE r.did = u.did AND r.state = 'complete')
  AND NOT EXISTS (SELECT 1 FROM skua.excluded_accounts AS e WHERE e.did = u.did);
