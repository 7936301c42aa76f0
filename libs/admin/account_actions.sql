-- name: admin_is_known
SELECT EXISTS (SELECT FROM bsky.actors WHERE did = $1::text);
