-- name: database_size
SELECT pg_database_size(current_database());
