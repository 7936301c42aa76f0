-- What accounts that are not active have leaves the views, and comes back with them. The tables keep it,
-- and so do bsky.all_records and the rows of bsky.actors_view.

DO $$
DECLARE
  v record;
  definition text;
BEGIN
  FOR v IN
    SELECT c.oid, c.relname FROM pg_class c
    WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind = 'v'
      AND c.relname LIKE '%\_view' AND c.relname <> 'actors_view'
  LOOP
    -- All of them read their author from `bsky.actors a`, and end with the conditions of the whole.
    definition := rtrim(pg_get_viewdef(v.oid), '; ');
    EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS %s %s a.active IS NOT FALSE', v.relname, definition,
                   CASE WHEN definition ~ '\n\s*WHERE ' THEN 'AND' ELSE 'WHERE' END);
  END LOOP;
END
$$;

CREATE OR REPLACE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle,
       p.display_name,
       p.description,
       p.avatar_cid,
       a.active,
       a.status,
       a.status_time,
       p.created_at,
       a.indexed_at,
       a.id
FROM bsky.actors a
LEFT JOIN bsky.profiles p
  ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self') AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.actors_view IS 'Accounts with their profile; of those that are not active only that they exist.';
COMMENT ON COLUMN bsky.actors_view.handle IS 'The handle that its DID document claims, or that its host announced last; null when another account has taken it.';
COMMENT ON COLUMN bsky.actors.handle IS 'The handle that its DID document claims, or that its host announced last; null when another account has taken it. Not yet checked against DNS.';
COMMENT ON COLUMN bsky.actors.status IS 'Why it is not active: takendown, suspended, deleted, deactivated... May stand beside an active account. What a deleted account had is removed.';
