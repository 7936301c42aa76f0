-- name: recheck_reasons
UPDATE bsky.records AS r
SET invalid_reason = u.reason
FROM unnest(
  $1::int8[], $2::int4[], $3::int8[], $4::int8[], $5::text[]) AS u(actor_id, collection_id, rkey, rev, reason)
WHERE r.actor_id = u.actor_id AND r.collection_id = u.collection_id AND r.rkey = u.rkey AND r.rev = u.rev;
