-- name: doctor_disk
-- pg_settings has no row for a value that the role may not see. A local address is null (a Unix socket) or loopback.
SELECT pg_database_size(current_database()), (SELECT setting FROM pg_settings WHERE name = 'data_directory'),
  coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true);
