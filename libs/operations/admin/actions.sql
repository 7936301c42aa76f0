-- name: admin_is_known
SELECT EXISTS (SELECT 1 FROM bsky.actors WHERE did = $1::text);
