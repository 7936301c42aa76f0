-- name: server_facts
-- The columns are the fields of ServerFacts.
SELECT current_setting('server_version_num')::int8, current_setting('server_encoding'), pg_is_in_recovery(),
  current_setting('max_connections')::int8, current_setting('superuser_reserved_connections')::int8,
  current_setting('max_prepared_transactions')::int8, current_setting('max_locks_per_transaction')::int8,
  current_setting('fsync') <> 'off', current_setting('full_page_writes') <> 'off';

-- name: server_process
SELECT pg_backend_pid();
