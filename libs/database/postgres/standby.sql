-- name: standby_lag
-- Roles without rights see no columns of pg_stat_wal_receiver, but its row. A standby that has applied no transaction yet is
-- as old as its start.
SELECT CASE
  WHEN NOT pg_is_in_recovery() THEN NULL
  WHEN EXISTS (SELECT FROM pg_stat_wal_receiver) AND pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() THEN 0
  ELSE greatest(0, extract(epoch FROM
    clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())) * 1000)::int8
END;
