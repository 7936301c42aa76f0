-- name: doctor_server_settings
SELECT pg_size_bytes(current_setting('shared_buffers')), pg_size_bytes(current_setting('max_wal_size')),
  current_setting('random_page_cost')::float8,
  coalesce((SELECT reset_val = 'on' FROM pg_settings WHERE name = 'jit'), false);

-- name: doctor_is_standby
SELECT pg_is_in_recovery();

-- name: doctor_replication_slots
SELECT slot_name, active, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::int8
FROM pg_replication_slots
ORDER BY 3 DESC, 1
LIMIT 20;

-- name: doctor_disk
-- If the role may not see a value, pg_settings has no row for it. The address of a local client is null (a Unix socket) or
-- loopback.
SELECT pg_database_size(current_database()), (SELECT setting FROM pg_settings WHERE name = 'data_directory'),
  coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true);
