-- Columns of posts for conditions on the accounts, tags, links and media that a post contains. They follow from facets, tags
-- and embed (libs/records/post_content.cpp), and are not fields of the record.

ALTER TABLE bsky.posts
  ADD COLUMN mentions int4[],
  ADD COLUMN all_tags text[],
  ADD COLUMN links text[],
  ADD COLUMN link_hosts text[],
  ADD COLUMN images_without_alt int4,
  ADD COLUMN has_video boolean;

-- One letter becomes one letter, in every locale. The rows of libs/records/normal_tag.cpp: first and last letter, step,
-- and distance to the lower case.
DO $$
DECLARE
  upper_case text;
  lower_case text;
  ascii CONSTANT text := '''ABCDEFGHIJKLMNOPQRSTUVWXYZ'', ''abcdefghijklmnopqrstuvwxyz''';
BEGIN
  SELECT string_agg(chr(c), '' ORDER BY c), string_agg(chr(c + r.distance), '' ORDER BY c) INTO upper_case, lower_case
  FROM (VALUES
      (65, 90, 1, 32), (192, 214, 1, 32), (216, 222, 1, 32), (256, 302, 2, 1), (306, 310, 2, 1),
      (313, 327, 2, 1), (330, 374, 2, 1), (376, 376, 1, -121), (377, 381, 2, 1), (416, 416, 1, 1),
      (431, 431, 1, 1), (461, 475, 2, 1), (504, 542, 2, 1), (902, 902, 1, 38), (904, 906, 1, 37),
      (908, 908, 1, 64), (910, 911, 1, 63), (913, 929, 1, 32), (931, 939, 1, 32), (962, 962, 1, 1),
      (1024, 1039, 1, 80), (1040, 1071, 1, 32), (1120, 1152, 2, 1), (1162, 1214, 2, 1), (1216, 1216, 1, 15),
      (1217, 1229, 2, 1), (1232, 1326, 2, 1), (1329, 1366, 1, 48), (7680, 7828, 2, 1), (7838, 7838, 1, -7615),
      (7840, 7934, 2, 1), (65313, 65338, 1, 32)
  ) AS r(first, last, step, distance) CROSS JOIN generate_series(r.first, r.last, r.step) AS c;
  EXECUTE format('CREATE FUNCTION bsky.normal_tag(tag text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS %L',
    format('SELECT CASE WHEN octet_length(tag) = char_length(tag) THEN translate(ltrim(tag, ''#''), %s) '
           'ELSE translate(ltrim(tag, ''#''), %L, %L) END', ascii, upper_case, lower_case));
  EXECUTE format('CREATE FUNCTION bsky.link_host(uri text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS %L',
    format('SELECT translate(h.host, %s) FROM substring(regexp_replace(substring(uri FROM ''^[Hh][Tt][Tt][Pp][Ss]?://([^/\\?#]*)''), '
           '''^.*@'', '''') FROM ''^(\[[^]]*\]|[^:\[][^:]*)'') AS h(host) WHERE octet_length(h.host) <= 253', ascii));
END
$$;
COMMENT ON FUNCTION bsky.normal_tag(text) IS 'The normal form of a tag, as in bsky.posts.all_tags: without # at its begin and in lower case (Latin, Greek, Cyrillic, Armenian and full-width letters).';
COMMENT ON FUNCTION bsky.link_host(text) IS 'The host of an http or https URL, as in bsky.posts.link_hosts: in lower case, without user, password and port. Null if the URL has no host.';

-- Accounts that a post mentions have a number, like other accounts that a record names.
INSERT INTO bsky.actors (did, indexed_at)
SELECT DISTINCT m.did, now() FROM bsky.posts AS p
CROSS JOIN LATERAL (
  SELECT q.value #>> '{}' AS did, min(q.place) AS place
  FROM jsonb_path_query(p.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#mention").did')
    WITH ORDINALITY AS q(value, place) GROUP BY 1 ORDER BY 2 LIMIT 20
) AS m
WHERE p.cid IS NOT NULL AND p.facets IS NOT NULL AND NOT EXISTS (SELECT FROM bsky.actors AS a WHERE a.did = m.did)
ORDER BY 1
ON CONFLICT (did) DO NOTHING;

DROP INDEX IF EXISTS bsky.posts_facets;

UPDATE bsky.posts AS p SET (mentions, all_tags, links, link_hosts, images_without_alt, has_video) = (
  SELECT
    (SELECT array_agg(a.id ORDER BY m.place) FROM (
       SELECT q.value #>> '{}' AS did, min(q.place) AS place
       FROM jsonb_path_query(p.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#mention").did')
         WITH ORDINALITY AS q(value, place) GROUP BY 1 ORDER BY 2 LIMIT 20
     ) AS m JOIN bsky.actors AS a ON a.did = m.did),
    (SELECT array_agg(t.tag ORDER BY t.place) FROM (
       SELECT x.tag, min(x.place) AS place FROM (
         SELECT bsky.normal_tag(q.value #>> '{}') AS tag, q.place
         FROM jsonb_path_query(p.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#tag").tag')
           WITH ORDINALITY AS q(value, place)
         UNION ALL
         SELECT bsky.normal_tag(q.tag), 1000000000 + q.place FROM unnest(p.tags) WITH ORDINALITY AS q(tag, place)
       ) AS x WHERE x.tag <> '' AND octet_length(x.tag) <= 640 GROUP BY 1 ORDER BY 2 LIMIT 50
     ) AS t),
    l.links,
    (SELECT array_agg(h.host ORDER BY h.place) FROM (
       SELECT bsky.link_host(u.uri) AS host, min(u.place) AS place FROM unnest(l.links) WITH ORDINALITY AS u(uri, place) GROUP BY 1
     ) AS h WHERE h.host IS NOT NULL),
    (SELECT count(*) FILTER (WHERE i.image ->> 'alt' = '') FROM (
       SELECT jsonb_path_query(c.media, '$ ? (@."$type" == "app.bsky.embed.images").images[*]')
       UNION ALL
       SELECT jsonb_path_query(c.media, '$ ? (@."$type" == "app.bsky.embed.gallery").items[*] ? (@."$type" == "app.bsky.embed.gallery#image")')
     ) AS i(image) HAVING count(*) > 0),
    CASE WHEN c.media ->> '$type' = 'app.bsky.embed.video' THEN true END
  FROM (SELECT CASE WHEN p.embed ->> '$type' = 'app.bsky.embed.recordWithMedia' THEN p.embed -> 'media' ELSE p.embed END) AS c(media)
  CROSS JOIN LATERAL (
    SELECT array_agg(y.uri ORDER BY y.place) AS links FROM (
      SELECT x.uri, min(x.place) AS place FROM (
        SELECT q.value #>> '{}' AS uri, q.place
        FROM jsonb_path_query(p.facets, '$[*].features[*] ? (@."$type" == "app.bsky.richtext.facet#link").uri')
          WITH ORDINALITY AS q(value, place)
        UNION ALL
        SELECT c.media #>> '{external,uri}', 1000000000 WHERE c.media ->> '$type' = 'app.bsky.embed.external'
      ) AS x WHERE octet_length(x.uri) <= 2048 GROUP BY 1 ORDER BY 2 LIMIT 50
    ) AS y
  ) AS l
)
WHERE p.cid IS NOT NULL AND (p.facets IS NOT NULL OR p.tags IS NOT NULL OR p.embed ->> '$type' <> 'app.bsky.embed.record');

-- One index of the columns in place of the one of facets. A bootstrap builds it at its end.
DO $$
DECLARE
  build CONSTANT text :=
    'CREATE INDEX posts_content ON bsky.posts USING gin (mentions, all_tags, links, link_hosts) '
    'WHERE mentions IS NOT NULL OR all_tags IS NOT NULL OR links IS NOT NULL OR link_hosts IS NOT NULL';
BEGIN
  IF EXISTS (SELECT FROM skua.dropped_indexes) THEN
    DELETE FROM skua.dropped_indexes AS d WHERE d.name = 'bsky.posts_facets';
    INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('bsky.posts_content', 'bsky.posts', build);
  ELSE
    EXECUTE build;
  END IF;
END
$$;

INSERT INTO skua.record_fields (table_name, column_name)
SELECT 'posts', name FROM unnest(ARRAY['mentions', 'all_tags', 'links', 'link_hosts', 'images_without_alt', 'has_video']) AS name;
SELECT skua.make_record_json();

-- With the results of post_rules, and these columns. New columns stand last.
CREATE OR REPLACE VIEW bsky.posts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did,
       a.handle,
       t.text,
       t.langs,
       t.tags,
       t.labels,
       t.facets,
       t.embed,
       'at://' || parent.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.parent_actor, 1, t.parent_rkey) AS parent_uri,
       bsky.cid_text(t.parent_cid) AS parent_cid,
       'at://' || root.did || '/app.bsky.feed.post/'
         || bsky.rkey_text(t.root_actor, 1, t.root_rkey) AS root_uri,
       bsky.cid_text(t.root_cid) AS root_cid,
       'at://' || quote.did || '/' || quote_c.nsid || '/'
         || bsky.rkey_text(t.quote_actor, t.quote_collection, t.quote_rkey) AS quote_uri,
       bsky.cid_text(t.quote_cid) AS quote_cid,
       least(t.created_at, t.indexed_at) AS sort_at,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.parent_actor,
       t.parent_rkey,
       t.root_actor,
       t.root_rkey,
       t.quote_actor,
       t.quote_collection,
       t.quote_rkey,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.likes, 0) END AS likes,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.reposts, 0) END AS reposts,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.replies, 0) END AS replies,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.quotes, 0) END AS quotes,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_threadgate, false) END AS violates_threadgate,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_embedding_rules, false) END AS violates_embedding_rules,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.is_hidden, false) END AS is_hidden,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.has_invalid_root, false) END AS has_invalid_root,
       t.mentions,
       t.all_tags,
       t.links,
       t.link_hosts,
       t.images_without_alt,
       t.has_video
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.actors parent ON parent.id = t.parent_actor
LEFT JOIN bsky.actors root ON root.id = t.root_actor
LEFT JOIN bsky.actors quote ON quote.id = t.quote_actor
LEFT JOIN bsky.collections quote_c ON quote_c.id = t.quote_collection
LEFT JOIN bsky.post_stats stats ON stats.actor_id = t.actor_id AND stats.rkey = t.rkey
LEFT JOIN bsky.post_rules rules ON rules.actor_id = t.actor_id AND rules.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND a.active IS NOT FALSE;
COMMENT ON COLUMN bsky.posts_view.violates_threadgate IS 'True if the threadgate of the thread does not allow the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.violates_embedding_rules IS 'True if the postgate of the quoted post does not allow the quote. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.is_hidden IS 'True if the author of the thread hides the reply. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.has_invalid_root IS 'True if the parent belongs to another thread than the reply states. Null unless the projection post_rules is current (bsky.is_current).';
COMMENT ON COLUMN bsky.posts_view.replies IS 'The number of direct replies to the post. Without those that violate the threadgate, if the projection post_rules exists. Null unless the projection post_stats is current (bsky.is_current).';

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['posts', 'posts_view'] LOOP
    EXECUTE format($f$
      COMMENT ON COLUMN bsky.%1$I.mentions IS 'The accounts that the text mentions (bsky.actors.id), at most 20; null if there are none. An index supports mentions @> ARRAY[bsky.actor_id(...)].';
      COMMENT ON COLUMN bsky.%1$I.all_tags IS 'The tags of the text and of the field tags in their normal form (bsky.normal_tag), at most 50; null if there are none. An index supports all_tags @> ARRAY[''art''].';
      COMMENT ON COLUMN bsky.%1$I.links IS 'The links of the text and of the link card, up to 2048 bytes, at most 50; null if there are none. An index supports links @> ARRAY[...].';
      COMMENT ON COLUMN bsky.%1$I.link_hosts IS 'The hosts of links, in lower case; null if there are none. An index supports link_hosts @> ARRAY[''example.com''].';
      COMMENT ON COLUMN bsky.%1$I.images_without_alt IS 'The number of images without alt text; null if the post has no image.';
      COMMENT ON COLUMN bsky.%1$I.has_video IS 'True if the post has a video, otherwise null.'
    $f$, relation);
    EXECUTE format('COMMENT ON COLUMN bsky.%I.facets IS %L', relation,
                   'The mentions, links and tags in the text, as in the record. bsky.post_facets_view has one per row. mentions, all_tags and links have indexes.');
  END LOOP;
END
$$;

-- The projection tag_trends keeps its copy of the tags under another name, and without a view.
DO $$
DECLARE
  stored text;
BEGIN
  FOR stored IN SELECT c.relname FROM pg_class AS c
    WHERE c.relnamespace = 'skua'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^post_tags_[0-9]+$'
  LOOP
    EXECUTE format('ALTER TABLE skua.%I RENAME TO %I', stored, replace(stored, 'post_tags', 'counted_tags'));
  END LOOP;
END
$$;
DROP VIEW bsky.post_tags;

CREATE VIEW bsky.post_mentions AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, m.id AS mentioned_actor
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.mentions) AS m(id)
WHERE p.cid IS NOT NULL AND p.mentions IS NOT NULL;
CREATE VIEW bsky.post_tags AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, t.tag
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.all_tags) AS t(tag)
WHERE p.cid IS NOT NULL AND p.all_tags IS NOT NULL;
CREATE VIEW bsky.post_links AS
SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at, l.link, bsky.link_host(l.link) AS host
FROM bsky.posts AS p CROSS JOIN LATERAL unnest(p.links) AS l(link)
WHERE p.cid IS NOT NULL AND p.links IS NOT NULL;
COMMENT ON VIEW bsky.post_mentions IS 'The accounts that posts mention, one per row. To find the posts that mention an account, compare bsky.posts.mentions: an unnested value has no index.';
COMMENT ON VIEW bsky.post_tags IS 'The tags of posts, one per row. To find the posts with a tag, compare bsky.posts.all_tags: an unnested value has no index.';
COMMENT ON VIEW bsky.post_links IS 'The links of posts, one per row. To find the posts with a link, compare bsky.posts.links or link_hosts: an unnested value has no index.';
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['post_mentions', 'post_tags', 'post_links'] LOOP
    EXECUTE format($f$
      COMMENT ON COLUMN bsky.%1$I.actor_id IS 'The author of the post (bsky.actors.id).';
      COMMENT ON COLUMN bsky.%1$I.rkey IS 'The record key of the post, as a number.';
      COMMENT ON COLUMN bsky.%1$I.sort_at IS 'The earlier of the times at which the post was created and indexed. A condition on it uses an index.'
    $f$, name);
  END LOOP;
END
$$;
COMMENT ON COLUMN bsky.post_mentions.mentioned_actor IS 'The mentioned account (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_tags.tag IS 'The tag, in its normal form (bsky.normal_tag).';
COMMENT ON COLUMN bsky.post_links.link IS 'The link: a URI.';
COMMENT ON COLUMN bsky.post_links.host IS 'The host of the link, in lower case; null if it is no http or https URL.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
