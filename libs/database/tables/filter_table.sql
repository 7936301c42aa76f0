-- name: filter_state
SELECT version, widened,
  CASE WHEN clock_timestamp() < widened_at + interval '10 seconds' THEN least(version, widened - 1)
    ELSE version
  END,
  clock_timestamp() > widened_at + interval '5 seconds', resync_from IS NOT NULL
FROM skua.filter_state;

-- name: filter_load
SELECT s.version, v.kind, v.value
FROM skua.filter_state AS s
LEFT JOIN LATERAL (
  SELECT 'collection' AS kind, c AS value
  FROM unnest(s.collections) AS c
  UNION ALL
  SELECT 'did', d
  FROM unnest(s.dids) AS d
  UNION ALL
  SELECT 'excluded', e
  FROM unnest(s.excluded) AS e
  UNION ALL
  SELECT 'keep ' || k.value, k.key
  FROM jsonb_each_text(s.retention) AS k
) AS v ON true;

-- name: filter_stored
SELECT kind, value FROM skua.filter;

-- name: filter_exclude
INSERT INTO skua.excluded_accounts (did)
SELECT DISTINCT u.did
FROM unnest($1::text[]) AS u(did)
ON CONFLICT DO NOTHING;

-- name: filter_include
DELETE FROM skua.excluded_accounts WHERE did = ANY($1::text[]);

-- name: filter_set_retention
-- A pass that has begun may have missed rows, so the pass begins again.
INSERT INTO skua.retention AS r (collection, keep)
VALUES ($1::text, $2::int8 * interval '1 second')
ON CONFLICT (collection)
DO UPDATE SET keep = EXCLUDED.keep, next_block = NULL, pass_at = NULL
WHERE r.keep <> EXCLUDED.keep;

-- name: filter_remove_retention
DELETE FROM skua.retention WHERE collection = $1::text;

-- fragment: given_entries
unnest($1::text[], $2::text[]) AS u(kind, value)

-- name: filter_insert
INSERT INTO skua.filter (kind, value) SELECT * FROM {{given_entries}} ON CONFLICT DO NOTHING;

-- name: filter_remove
DELETE FROM skua.filter AS f USING {{given_entries}} WHERE f.kind = u.kind AND f.value = u.value;

-- name: filter_keep
DELETE FROM skua.filter AS f
WHERE NOT EXISTS (SELECT 1 FROM {{given_entries}} WHERE f.kind = u.kind AND f.value = u.value);

-- name: filter_refresh_lists
SELECT skua.refresh_filter_lists();

-- name: filter_mark
SELECT skua.resync_for_filter();

-- name: filter_waiting
SELECT count(*) FROM skua.repositories WHERE state = 'desynchronized' AND reason IS NOT NULL;

-- name: filter_widen
SELECT skua.widen_filter();

-- name: filter_lock
-- Writers wait for each other; readers do not wait.
LOCK TABLE skua.filter IN SHARE ROW EXCLUSIVE MODE;
