-- The views of a query database send joins and aggregates to its nodes. `skua migrate` makes these views again after each migration.
SELECT;
