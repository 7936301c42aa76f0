-- Views over many tables, and views that take the JSON of posts apart.

CREATE VIEW bsky.post_facets_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did,
       split_part(x.feature ->> '$type', '#', 2) AS kind,
       coalesce(x.feature ->> 'did', x.feature ->> 'uri', x.feature ->> 'tag') AS value,
       (f.facet -> 'index' ->> 'byteStart')::int8 AS byte_start,
       (f.facet -> 'index' ->> 'byteEnd')::int8 AS byte_end,
       p.actor_id,
       p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(p.facets) = 'array' THEN p.facets END) AS f (facet)
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(f.facet -> 'features') = 'array' THEN f.facet -> 'features' END) AS x (feature)
WHERE x.feature ->> '$type' IN ('app.bsky.richtext.facet#mention', 'app.bsky.richtext.facet#link',
                              'app.bsky.richtext.facet#tag');
COMMENT ON VIEW bsky.post_facets_view IS 'Mentions, links and tags in the texts of posts, one a row.';
COMMENT ON COLUMN bsky.post_facets_view.uri IS 'The post''s AT-URI.';
COMMENT ON COLUMN bsky.post_facets_view.did IS 'The post''s author.';
COMMENT ON COLUMN bsky.post_facets_view.kind IS 'mention, link or tag.';
COMMENT ON COLUMN bsky.post_facets_view.value IS 'The mentioned DID, the link, or the tag without its #.';
COMMENT ON COLUMN bsky.post_facets_view.byte_start IS 'Where it begins in the text, counted in bytes of UTF-8 from 0.';
COMMENT ON COLUMN bsky.post_facets_view.byte_end IS 'Where it ends: the byte after it.';
COMMENT ON COLUMN bsky.post_facets_view.actor_id IS 'The author''s number.';
COMMENT ON COLUMN bsky.post_facets_view.rkey IS 'The post''s key, as a number.';

CREATE VIEW bsky.post_images_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did,
       x.position,
       coalesce(x.image -> 'image' -> 'ref' ->> '$link', x.image -> 'image' ->> 'cid') AS cid,
       x.image ->> 'alt' AS alt,
       x.image -> 'image' ->> 'mimeType' AS mime_type,
       (x.image -> 'image' ->> 'size')::int8 AS size,
       (x.image -> 'aspectRatio' ->> 'width')::int8 AS width,
       (x.image -> 'aspectRatio' ->> 'height')::int8 AS height,
       p.actor_id,
       p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(coalesce(p.embed -> 'media', p.embed) -> 'images') = 'array'
         THEN coalesce(p.embed -> 'media', p.embed) -> 'images'
       WHEN jsonb_typeof(coalesce(p.embed -> 'media', p.embed) -> 'items') = 'array'
         THEN coalesce(p.embed -> 'media', p.embed) -> 'items'
  END) WITH ORDINALITY AS x (image, position);
COMMENT ON VIEW bsky.post_images_view IS 'The images of posts, one a row; those of galleries and beside quotes included.';
COMMENT ON COLUMN bsky.post_images_view.uri IS 'The post''s AT-URI.';
COMMENT ON COLUMN bsky.post_images_view.did IS 'The post''s author.';
COMMENT ON COLUMN bsky.post_images_view.position IS '1 for the first image of the post.';
COMMENT ON COLUMN bsky.post_images_view.cid IS 'CID of the image''s blob.';
COMMENT ON COLUMN bsky.post_images_view.alt IS 'What the image shows, in words.';
COMMENT ON COLUMN bsky.post_images_view.mime_type IS 'For example image/jpeg.';
COMMENT ON COLUMN bsky.post_images_view.size IS 'Bytes.';
COMMENT ON COLUMN bsky.post_images_view.width IS 'Width, relative to height.';
COMMENT ON COLUMN bsky.post_images_view.height IS 'Height, relative to width.';
COMMENT ON COLUMN bsky.post_images_view.actor_id IS 'The author''s number.';
COMMENT ON COLUMN bsky.post_images_view.rkey IS 'The post''s key, as a number.';

-- The condition on cid leaves the stubs out. It stands here and not beside bsky.posts, because only then
-- can a condition on did go down to each table's primary key.
CREATE VIEW bsky.all_records AS
SELECT 'at://' || a.did || '/' || c.nsid || '/' || bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS uri,
       a.did,
       c.nsid AS collection,
       bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS rkey,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.indexed_at
FROM (
    SELECT t.actor_id, 1 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.posts t
    UNION ALL
    SELECT t.actor_id, 2 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.likes t
    UNION ALL
    SELECT t.actor_id, 3 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.reposts t
    UNION ALL
    SELECT t.actor_id, 4 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.threadgates t
    UNION ALL
    SELECT t.actor_id, 5 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.postgates t
    UNION ALL
    SELECT t.actor_id, 6 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.feed_generators t
    UNION ALL
    SELECT t.actor_id, 7 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.follows t
    UNION ALL
    SELECT t.actor_id, 8 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.blocks t
    UNION ALL
    SELECT t.actor_id, 9 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.lists t
    UNION ALL
    SELECT t.actor_id, 10 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.list_items t
    UNION ALL
    SELECT t.actor_id, 11 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.list_blocks t
    UNION ALL
    SELECT t.actor_id, 12 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.starter_packs t
    UNION ALL
    SELECT t.actor_id, 13 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.verifications t
    UNION ALL
    SELECT t.actor_id, 14 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.profiles t
    UNION ALL
    SELECT t.actor_id, 15 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.statuses t
    UNION ALL
    SELECT t.actor_id, 16 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.chat_declarations t
    UNION ALL
    SELECT t.actor_id, 17 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.notification_declarations t
    UNION ALL
    SELECT t.actor_id, 18 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.germ_declarations t
    UNION ALL
    SELECT t.actor_id, 19 AS collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.labelers t
    UNION ALL
    SELECT t.actor_id, t.collection_id, t.rkey, t.cid, t.rev, t.indexed_at FROM bsky.records t
) t
LEFT JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.collections c ON c.id = t.collection_id
WHERE t.cid IS NOT NULL;
COMMENT ON VIEW bsky.all_records IS 'Every current record of every table, of accounts of every status; no stubs.';
COMMENT ON COLUMN bsky.all_records.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.all_records.did IS 'Whose record it is.';
COMMENT ON COLUMN bsky.all_records.collection IS 'The collection''s name.';
COMMENT ON COLUMN bsky.all_records.rkey IS 'The record''s key, as text.';
COMMENT ON COLUMN bsky.all_records.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.all_records.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.all_records.indexed_at IS 'When this version of the record was indexed.';

CREATE FUNCTION bsky.post(uri text) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.*
  FROM bsky.resolve_uri(uri) k
  JOIN bsky.posts_view p ON p.actor_id = k.actor_id AND p.rkey = k.rkey
  WHERE k.collection_id = 1
$$;
COMMENT ON FUNCTION bsky.post(text) IS 'The post of an AT-URI, as bsky.posts_view has it; no row when it is not there.';

CREATE VIEW bsky.records_view AS
SELECT 'at://' || a.did || '/' || c.nsid || '/' || bsky.rkey_text(t.actor_id, t.collection_id, t.rkey) AS uri,
       a.did,
       a.handle,
       c.nsid AS collection,
       t.record,
       t.invalid_reason,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.actor_id,
       t.collection_id,
       t.rkey
FROM bsky.records t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.collections c ON c.id = t.collection_id;
COMMENT ON VIEW bsky.records_view IS 'Records of collections without a table, and records that break their lexicon.';
COMMENT ON COLUMN bsky.records_view.uri IS 'The record''s AT-URI.';
COMMENT ON COLUMN bsky.records_view.did IS 'Its author.';
COMMENT ON COLUMN bsky.records_view.handle IS 'Its author''s handle, as far as known.';
COMMENT ON COLUMN bsky.records_view.collection IS 'The collection''s name.';
COMMENT ON COLUMN bsky.records_view.record IS 'The whole record.';
COMMENT ON COLUMN bsky.records_view.invalid_reason IS 'Why a record of a collection with a table is here: how it breaks its lexicon.';
COMMENT ON COLUMN bsky.records_view.indexed_at IS 'When this version of the record was indexed.';
COMMENT ON COLUMN bsky.records_view.cid IS 'CID of this version.';
COMMENT ON COLUMN bsky.records_view.rev IS 'The newest revision of the account''s repository at which the row is known to hold, as text.';
COMMENT ON COLUMN bsky.records_view.actor_id IS 'The author''s number: with rkey the key of the table.';
COMMENT ON COLUMN bsky.records_view.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN bsky.records_view.rkey IS 'The record''s key, as a number: with actor_id the key of the table.';

CREATE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle,
       p.display_name,
       p.description,
       p.avatar_cid,
       a.active,
       a.status,
       a.status_time,
       p.created_at,
       a.indexed_at,
       a.id
FROM bsky.actors a
LEFT JOIN bsky.profiles p ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self');
COMMENT ON VIEW bsky.actors_view IS 'Accounts with their profile.';
COMMENT ON COLUMN bsky.actors_view.did IS 'The account''s DID.';
COMMENT ON COLUMN bsky.actors_view.handle IS 'The handle that its host announced last.';
COMMENT ON COLUMN bsky.actors_view.display_name IS 'Name, from its profile.';
COMMENT ON COLUMN bsky.actors_view.description IS 'Description, from its profile.';
COMMENT ON COLUMN bsky.actors_view.avatar_cid IS 'CID of the picture, from its profile.';
COMMENT ON COLUMN bsky.actors_view.active IS 'Whether its host serves the account; null: no word of it yet.';
COMMENT ON COLUMN bsky.actors_view.status IS 'Why it is not active.';
COMMENT ON COLUMN bsky.actors_view.status_time IS 'The time of the event that brought active and status.';
COMMENT ON COLUMN bsky.actors_view.created_at IS 'When the profile says that it was made.';
COMMENT ON COLUMN bsky.actors_view.indexed_at IS 'When the account was first seen or named.';
COMMENT ON COLUMN bsky.actors_view.id IS 'The account''s number in this database.';
