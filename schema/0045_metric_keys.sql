-- The metrics of the last backfill have the present names of their keys, also before another backfill writes them.
UPDATE skua.metrics
SET metrics = metrics - 'given_up' - 'holder'
  || jsonb_build_object('abandoned', metrics->'given_up', 'lease_owner', metrics->'holder')
WHERE source = 'backfill' AND metrics ? 'given_up';
