-- In a query database, bsky.actors has a column with the name of the account, which the nodes compute.
DO $$
BEGIN
  IF skua.is_query_database() THEN
    PERFORM skua.add_computed_column('actors');
  END IF;
END
$$;
