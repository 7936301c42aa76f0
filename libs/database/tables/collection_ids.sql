-- name: collections_find
SELECT id, nsid FROM bsky.collections WHERE nsid = ANY($1::text[]);

-- name: collections_insert
INSERT INTO bsky.collections (nsid)
SELECT nsid
FROM unnest($1::text[]) AS nsid
ON CONFLICT (nsid) DO NOTHING;
