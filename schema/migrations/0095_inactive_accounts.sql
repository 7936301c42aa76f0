-- A count over the records of many accounts leaves out those of the inactive accounts, which are few. A query database reads
-- the tables of its nodes, and has no indexes.
DO $$
BEGIN
  IF NOT skua.is_query_database() THEN
    CREATE INDEX actors_inactive ON bsky.actors (id) WHERE NOT active;
  END IF;
END
$$;
