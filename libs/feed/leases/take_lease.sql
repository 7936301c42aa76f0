-- name: leases_take
UPDATE skua.consumer_lanes
SET epoch = $3::int8, owner = $4::text, lease_until = clock_timestamp() + $5::int8 * interval '1 millisecond',
  leased_key = $6::int4, leased_end = $7::int8, leased_count = 0
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_note_batch
UPDATE skua.consumer_lanes
SET leased_end = $3::int8, leased_count = $4::int4
WHERE consumer_id = $1::int4 AND lane = $2::int4;
