-- name: repositories_current
SELECT r.did
FROM unnest($1::text[], $2::int8[]) AS u(did, listed)
JOIN skua.repositories AS r ON r.did = u.did
WHERE r.state = 'complete' AND r.rev >= u.listed;
