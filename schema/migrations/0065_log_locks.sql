-- The locks of the change log become locks of tables (functions/change_log.sql). Transactions that hold the former advisory
-- locks end first.
SELECT pg_advisory_xact_lock(1936422146, 3), pg_advisory_xact_lock(1936422146, 4), pg_advisory_xact_lock(1936422146, 5);
