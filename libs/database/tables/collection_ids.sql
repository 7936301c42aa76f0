-- name: collections_find
SELECT id, nsid FROM bsky.collections WHERE nsid = ANY($1::text[]);

-- name: collections_insert
-- A computed number may belong to another collection already.
INSERT INTO bsky.collections (id, nsid)
SELECT skua.new_collection_number(nsid), nsid
FROM unnest($1::text[]) AS nsid
ON CONFLICT DO NOTHING;
