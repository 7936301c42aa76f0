-- The views of a query database send joins and aggregates to its nodes. `skua migrate` makes these views again after each migration.
DO $$
BEGIN
  IF skua.is_query_database() THEN
    PERFORM skua.add_computed_column('actors');
  END IF;
END
$$;
