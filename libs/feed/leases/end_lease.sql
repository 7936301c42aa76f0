-- name: leases_renew
UPDATE skua.consumer_lanes
SET lease_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_account
SELECT c.actor_id FROM skua.changes_between($1::int8, $1::int8 + 1) AS c;
