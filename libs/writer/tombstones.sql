-- name: tombstones_upsert
INSERT INTO skua.tombstones AS t (actor_id, collection_id, rkey, rev, source, seq)
SELECT d.actor_id, d.collection_id, d.rkey, d.rev, d.source, d.seq
FROM unnest(
  $1::int8[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::text[]
) AS d(actor_id, collection_id, rkey, rev, seq, source)
ON CONFLICT (actor_id, collection_id, rkey)
DO UPDATE SET rev = EXCLUDED.rev, source = EXCLUDED.source, seq = EXCLUDED.seq
WHERE t.rev < EXCLUDED.rev;
