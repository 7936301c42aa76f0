-- The filter can name lists: the accounts on them pass.

ALTER TABLE skua.filter DROP CONSTRAINT filter_kind_check, ADD CONSTRAINT filter_kind_check CHECK (kind IN ('collection', 'did', 'list')),
  ADD CONSTRAINT filter_list_check CHECK (kind <> 'list' OR (octet_length(value) <= 2600
    AND value ~ '^at://did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]/app\.bsky\.graph\.list/[a-zA-Z0-9._:~-]+$'));
COMMENT ON COLUMN skua.filter.kind IS 'collection: a collection or a prefix. did: an account. list: a list of accounts; the accounts on it and its owner pass.';
COMMENT ON COLUMN skua.filter.value IS 'A collection such as app.bsky.feed.post, a prefix such as app.bsky.graph.*, a DID, or the AT-URI of a list with a DID.';
COMMENT ON COLUMN skua.filter_state.dids IS 'The accounts in skua.filter and on its lists, and the owners of these lists, sorted.';

CREATE FUNCTION skua.filter_accounts() RETURNS SETOF text
LANGUAGE sql STABLE AS $$
  SELECT f.value FROM skua.filter AS f WHERE f.kind = 'did'
  UNION
  SELECT split_part(f.value, '/', 3) FROM skua.filter AS f WHERE f.kind = 'list'
  UNION
  SELECT a.did FROM skua.filter AS f CROSS JOIN LATERAL bsky.resolve_uri(f.value) AS l
  JOIN bsky.list_items AS i ON i.list_actor = l.actor_id AND i.list_rkey = l.rkey AND i.actor_id = l.actor_id
  JOIN bsky.actors AS a ON a.id = i.subject_actor
  WHERE f.kind = 'list'
$$;
COMMENT ON FUNCTION skua.filter_accounts() IS 'The accounts that pass the filter if it names accounts or lists: those, the accounts on the lists, and the owners of the lists.';

CREATE OR REPLACE FUNCTION skua.apply_filter() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  was skua.filter_state;
  new_collections text[];
  new_dids text[];
  new_excluded text[];
  new_retention jsonb;
BEGIN
  SELECT * INTO STRICT was FROM skua.filter_state FOR UPDATE;
  SELECT coalesce(array_agg(f.value::text ORDER BY f.value), '{}') INTO new_collections FROM skua.filter AS f WHERE f.kind = 'collection';
  SELECT coalesce(array_agg(a ORDER BY a COLLATE "C"), '{}') INTO new_dids FROM skua.filter_accounts() AS a;
  SELECT coalesce(array_agg(e.did::text ORDER BY e.did), '{}') INTO new_excluded FROM skua.excluded_accounts AS e;
  SELECT coalesce(jsonb_object_agg(r.collection, extract(epoch FROM r.keep)::int8), '{}') INTO new_retention FROM skua.retention AS r;
  IF new_collections = was.collections AND new_dids = was.dids AND new_excluded = was.excluded AND new_retention = was.retention THEN
    RETURN NULL;
  END IF;
  UPDATE skua.filter_state SET version = version + 1, changed_at = clock_timestamp(),
    collections = new_collections, dids = new_dids, excluded = new_excluded, retention = new_retention;
  IF skua.collections_are_wider(was.collections, new_collections) THEN
    UPDATE skua.filter_state SET widened = version, widened_at = clock_timestamp(), resync_from = '';
    PERFORM skua.resync_for_filter();
  END IF;
  IF new_excluded <> was.excluded THEN
    -- In the order of DIDs, as in all transactions that lock rows of that table.
    WITH locked AS MATERIALIZED (
      SELECT r.did FROM skua.repositories AS r
      JOIN (SELECT unnest(was.excluded) EXCEPT SELECT unnest(new_excluded)) AS u(did) ON u.did = r.did
      WHERE r.state = 'complete' ORDER BY r.did FOR UPDATE OF r
    )
    UPDATE skua.repositories AS r SET state = 'desynchronized', attempts = 0, error = NULL,
      reason = 'the account was excluded', next_attempt = clock_timestamp() + interval '10 seconds'
    FROM locked WHERE r.did = locked.did;
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION skua.refresh_filter_lists() RETURNS void
LANGUAGE sql AS $$
  UPDATE skua.filter_changes SET changes = changes + 1
  WHERE EXISTS (SELECT FROM skua.filter WHERE kind = 'list')
    AND (SELECT coalesce(array_agg(a ORDER BY a COLLATE "C"), '{}') FROM skua.filter_accounts() AS a) <> (SELECT dids FROM skua.filter_state)
$$;
COMMENT ON FUNCTION skua.refresh_filter_lists() IS 'Updates skua.filter_state if the accounts on a list of the filter have changed. `skua run` calls it every ten seconds.';
