-- name: consumers_advance
-- After a failure the batch was halved: after a success it doubles again.
UPDATE skua.consumer_lanes
SET pos = $3, epoch = epoch + 1, served_at = now(), batch = CASE WHEN batch < 1000000 THEN batch * 2 END,
  {{lane_succeeded}}
WHERE consumer_id = $1 AND lane = $2::int4;
