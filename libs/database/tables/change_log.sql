-- name: log_is_logging
SELECT skua.is_logging_changes();

-- name: log_append
SELECT
  skua.append_changes(
    $1::int2[], $2::int2[], $3::int8[], $4::int4[], $5::int8[], $6::int8[], $7::bytea[], $8::text[],
    $9::int4[], $10::int2[], $11::int2[], $12::int8[], $13::int4[], $14::int8[]);

-- name: log_lock_mode
SELECT skua.lock_change_log_mode();

-- name: log_end_bootstrap
SELECT skua.end_bootstrap();

-- name: log_check_timeline
SELECT skua.check_change_log_timeline();
