-- name: server_clock_now
SELECT clock_timestamp();
