-- The facets, images, mentions, tags and links of posts, one per row.

CREATE OR REPLACE VIEW bsky.post_facets_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did,
       split_part(x.feature ->> '$type', '#', 2) AS kind,
       coalesce(x.feature ->> 'did', x.feature ->> 'uri', x.feature ->> 'tag') AS value,
       (f.facet -> 'index' ->> 'byteStart')::int8 AS byte_start,
       (f.facet -> 'index' ->> 'byteEnd')::int8 AS byte_end,
       p.actor_id, p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(p.facets) = 'array' THEN p.facets END) AS f (facet)
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(f.facet -> 'features') = 'array' THEN f.facet -> 'features' END) AS x (feature)
WHERE x.feature ->> '$type' IN ('app.bsky.richtext.facet#mention', 'app.bsky.richtext.facet#link',
                              'app.bsky.richtext.facet#tag')
  AND a.active IS NOT FALSE;
COMMENT ON VIEW bsky.post_facets_view IS 'The mentions, links and tags in the texts of posts, one per row.';
COMMENT ON COLUMN bsky.post_facets_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_facets_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_facets_view.kind IS 'The kind: mention, link or tag.';
COMMENT ON COLUMN bsky.post_facets_view.value IS 'The mentioned DID, the address of the link, or the tag without its #.';
COMMENT ON COLUMN bsky.post_facets_view.byte_start IS 'The index of the first byte in the UTF-8 text, from 0.';
COMMENT ON COLUMN bsky.post_facets_view.byte_end IS 'The index of the first byte after it.';
COMMENT ON COLUMN bsky.post_facets_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_facets_view.rkey IS 'The record key of the post, as a number.';

CREATE OR REPLACE VIEW bsky.post_images_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did, x.position,
       coalesce(x.image -> 'image' -> 'ref' ->> '$link', x.image -> 'image' ->> 'cid') AS cid,
       x.image ->> 'alt' AS alt,
       x.image -> 'image' ->> 'mimeType' AS mime_type,
       (x.image -> 'image' ->> 'size')::int8 AS size,
       (x.image -> 'aspectRatio' ->> 'width')::int8 AS width,
       (x.image -> 'aspectRatio' ->> 'height')::int8 AS height,
       p.actor_id, p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
-- A gallery can have items of other kinds, which are no images. The position counts them too.
CROSS JOIN LATERAL jsonb_array_elements(
  CASE WHEN jsonb_typeof(coalesce(p.embed -> 'media', p.embed) -> 'images') = 'array'
         THEN coalesce(p.embed -> 'media', p.embed) -> 'images'
       WHEN jsonb_typeof(coalesce(p.embed -> 'media', p.embed) -> 'items') = 'array'
         THEN coalesce(p.embed -> 'media', p.embed) -> 'items'
  END) WITH ORDINALITY AS x (image, position)
WHERE a.active IS NOT FALSE
  AND coalesce(x.image ->> '$type', 'app.bsky.embed.gallery#image')
    IN ('app.bsky.embed.gallery#image', 'app.bsky.embed.images#image');
COMMENT ON VIEW bsky.post_images_view IS 'The images of posts, one per row. Galleries and images beside a quoted record are included.';
COMMENT ON COLUMN bsky.post_images_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_images_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_images_view.position IS 'The position of the image among the items of the post, from 1.';
COMMENT ON COLUMN bsky.post_images_view.cid IS 'The CID of the blob.';
COMMENT ON COLUMN bsky.post_images_view.alt IS 'The description of the image.';
COMMENT ON COLUMN bsky.post_images_view.mime_type IS 'The MIME type, such as image/jpeg.';
COMMENT ON COLUMN bsky.post_images_view.size IS 'The size of the blob in bytes, as the record states it.';
COMMENT ON COLUMN bsky.post_images_view.width IS 'The width of the image, relative to height.';
COMMENT ON COLUMN bsky.post_images_view.height IS 'The height of the image, relative to width.';
COMMENT ON COLUMN bsky.post_images_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_images_view.rkey IS 'The record key of the post, as a number.';

CREATE OR REPLACE VIEW bsky.post_link_cards_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did,
       bsky.text_value(x.card -> 'uri') AS link,
       bsky.link_host(bsky.text_value(x.card -> 'uri')) AS host,
       bsky.text_value(x.card -> 'title') AS title,
       bsky.text_value(x.card -> 'description') AS description,
       coalesce(x.card -> 'thumb' -> 'ref' ->> '$link', x.card -> 'thumb' ->> 'cid') AS thumb_cid,
       least(p.created_at, p.indexed_at) AS sort_at, p.actor_id, p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
CROSS JOIN LATERAL (SELECT coalesce(p.embed -> 'media', p.embed) -> 'external') AS x (card)
WHERE a.active IS NOT FALSE AND p.cid IS NOT NULL AND jsonb_typeof(x.card) = 'object';
COMMENT ON VIEW bsky.post_link_cards_view IS 'The link cards of posts, at most one for each post. Cards beside a quoted record are included.';
COMMENT ON COLUMN bsky.post_link_cards_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_link_cards_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_link_cards_view.link IS 'The URI of the link.';
COMMENT ON COLUMN bsky.post_link_cards_view.host IS 'The host of the link, in lower case; null if it is no http or https URL.';
COMMENT ON COLUMN bsky.post_link_cards_view.title IS 'The title of the page, as the record states it.';
COMMENT ON COLUMN bsky.post_link_cards_view.description IS 'The description of the page, as the record states it.';
COMMENT ON COLUMN bsky.post_link_cards_view.thumb_cid IS 'The CID of the preview image; null if there is none.';
COMMENT ON COLUMN bsky.post_link_cards_view.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.';
COMMENT ON COLUMN bsky.post_link_cards_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_link_cards_view.rkey IS 'The record key of the post, as a number.';

CREATE OR REPLACE VIEW bsky.post_videos_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) AS uri,
       a.did,
       coalesce(x.media -> 'video' -> 'ref' ->> '$link', x.media -> 'video' ->> 'cid') AS cid,
       bsky.text_value(x.media -> 'alt') AS alt,
       bsky.text_value(x.media -> 'video' -> 'mimeType') AS mime_type,
       bsky.integer_value(x.media -> 'video' -> 'size') AS size,
       bsky.integer_value(x.media -> 'aspectRatio' -> 'width') AS width,
       bsky.integer_value(x.media -> 'aspectRatio' -> 'height') AS height,
       ARRAY(SELECT c.caption ->> 'lang' FROM jsonb_array_elements(
         CASE WHEN jsonb_typeof(x.media -> 'captions') = 'array' THEN x.media -> 'captions' END) WITH ORDINALITY AS c(caption, place)
         ORDER BY c.place) AS caption_langs,
       least(p.created_at, p.indexed_at) AS sort_at, p.actor_id, p.rkey
FROM bsky.posts p
JOIN bsky.actors a ON a.id = p.actor_id
CROSS JOIN LATERAL (SELECT coalesce(p.embed -> 'media', p.embed)) AS x (media)
WHERE a.active IS NOT FALSE AND p.cid IS NOT NULL AND p.has_video AND jsonb_typeof(x.media -> 'video') = 'object';
COMMENT ON VIEW bsky.post_videos_view IS 'The videos of posts, at most one for each post. Videos beside a quoted record are included.';
COMMENT ON COLUMN bsky.post_videos_view.uri IS 'The AT-URI of the post.';
COMMENT ON COLUMN bsky.post_videos_view.did IS 'The DID of the author.';
COMMENT ON COLUMN bsky.post_videos_view.cid IS 'The CID of the blob.';
COMMENT ON COLUMN bsky.post_videos_view.alt IS 'The description of the video; null if there is none.';
COMMENT ON COLUMN bsky.post_videos_view.mime_type IS 'The MIME type, such as video/mp4.';
COMMENT ON COLUMN bsky.post_videos_view.size IS 'The size of the blob in bytes, as the record states it.';
COMMENT ON COLUMN bsky.post_videos_view.width IS 'The width of the video, relative to height.';
COMMENT ON COLUMN bsky.post_videos_view.height IS 'The height of the video, relative to width.';
COMMENT ON COLUMN bsky.post_videos_view.caption_langs IS 'The languages of the captions.';
COMMENT ON COLUMN bsky.post_videos_view.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.';
COMMENT ON COLUMN bsky.post_videos_view.actor_id IS 'The account number of the author.';
COMMENT ON COLUMN bsky.post_videos_view.rkey IS 'The record key of the post, as a number.';

CREATE OR REPLACE VIEW bsky.post_mentions AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, m.id AS mentioned_actor
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.mentions) AS m(id)
WHERE p.cid IS NOT NULL AND p.mentions IS NOT NULL;
COMMENT ON VIEW bsky.post_mentions IS 'The accounts that posts mention, one per row. To find the posts that mention an account, compare bsky.posts.mentions: an unnested value has no index.';
COMMENT ON COLUMN bsky.post_mentions.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_mentions.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_mentions.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.';
COMMENT ON COLUMN bsky.post_mentions.mentioned_actor IS 'The mentioned account (bsky.actors.id).';

CREATE OR REPLACE VIEW bsky.post_tags AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, t.tag
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.all_tags) AS t(tag)
WHERE p.cid IS NOT NULL AND p.all_tags IS NOT NULL;
COMMENT ON VIEW bsky.post_tags IS 'The tags of posts, one per row. To find the posts with a tag, compare bsky.posts.all_tags: an unnested value has no index.';
COMMENT ON COLUMN bsky.post_tags.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_tags.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_tags.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.';
COMMENT ON COLUMN bsky.post_tags.tag IS 'The tag, in its normal form (bsky.normal_tag).';

CREATE OR REPLACE VIEW bsky.post_links AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, l.link, bsky.link_host(l.link) AS host
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.links) AS l(link)
WHERE p.cid IS NOT NULL AND p.links IS NOT NULL;
COMMENT ON VIEW bsky.post_links IS 'The links of posts, one per row. To find the posts with a link, compare bsky.posts.links or link_hosts: an unnested value has no index.';
COMMENT ON COLUMN bsky.post_links.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_links.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_links.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.';
COMMENT ON COLUMN bsky.post_links.link IS 'The URI of the link.';
COMMENT ON COLUMN bsky.post_links.host IS 'The host of the link, in lower case; null if it is no http or https URL.';
