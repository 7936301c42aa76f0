-- Account numbers become int8 (ADR 4). Each table of records is written again, with its indexes, while nobody can read it.
-- The views and functions that show account numbers are dropped; their files create them again after this migration. An object
-- of a user that depends on one of them ends the migration with its name.

-- The views of projections have no file.
CREATE TEMP TABLE shown_projections ON COMMIT DROP AS
SELECT c.relname AS name, substring(pg_get_viewdef(c.oid) FROM 'FROM skua\.\w+_([0-9]+)')::int4 AS consumer_id,
  string_agg(format('NULL::%s AS %I', CASE WHEN a.attname ~ '^(actor_id|recipient|\w+_actor)$' THEN 'int8'
    ELSE format_type(a.atttypid, a.atttypmod) END, a.attname), ', ' ORDER BY a.attnum) AS columns,
  format('COMMENT ON VIEW bsky.%I IS %L; ', c.relname, obj_description(c.oid, 'pg_class'))
    || string_agg(format('COMMENT ON COLUMN bsky.%I.%I IS %L', c.relname, a.attname, col_description(c.oid, a.attnum)), '; ') AS comments
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind = 'v'
  AND c.relname IN ('post_stats', 'actor_stats', 'notifications', 'post_rules', 'tag_trends')
GROUP BY c.oid, c.relname;

DROP FUNCTION IF EXISTS
  bsky.post(text), bsky.quotes_of(text, boolean), bsky.replies_of(text, boolean), bsky.search(text, int4),
  bsky.labels_of(text), bsky.notifications_of(text), bsky.record_json(bsky.likes), bsky.record_json(bsky.reposts);
DO $$
DECLARE
  lexicon_view text;
BEGIN
  FOR lexicon_view IN
    SELECT format('lexicon.%I', l.view_name) FROM skua.lexicons AS l WHERE to_regclass(format('lexicon.%I', l.view_name)) IS NOT NULL
  LOOP
    EXECUTE 'DROP VIEW ' || lexicon_view;
  END LOOP;
END
$$;
DROP VIEW IF EXISTS
  bsky.actors_view, bsky.all_records, bsky.blocks_view, bsky.chat_declarations_view, bsky.feed_generators_view,
  bsky.feed_reposts, bsky.follow_pairs, bsky.follows_view, bsky.germ_declarations_view, bsky.labelers_view, bsky.labels_view,
  bsky.like_pairs, bsky.likes_view, bsky.list_blocks_view, bsky.list_items_view, bsky.lists_view,
  bsky.notification_declarations_view, bsky.notifications_view, bsky.post_facets_view, bsky.post_images_view, bsky.post_links,
  bsky.post_mentions, bsky.post_tags, bsky.postgates_view, bsky.posts_view, bsky.profiles_view, bsky.records_view,
  bsky.repost_pairs, bsky.reposts_view, bsky.starter_packs_view, bsky.statuses_view, bsky.threadgates_view,
  bsky.verifications_view, bsky.visibility_declarations_view, skua.dead_letter_errors,
  bsky.post_stats, bsky.actor_stats, bsky.notifications, bsky.post_rules, bsky.tag_trends;
DROP FUNCTION IF EXISTS
  bsky.actor_id(text), bsky.backlinks(text, int4), bsky.feed(int4[], int4), bsky.feed_of(text, int4), bsky.followers_of(text),
  bsky.follows_of(text), bsky.likes_of(text), bsky.mutuals_of(text), bsky.record_json(int4[], int4[], int8[]),
  bsky.record_json(text), bsky.reposts_of(text), bsky.resolve_uri(text), bsky.rkey_text(int4, int4, int8),
  bsky.stored_rkey(int4, int4, int8), bsky.thread(text, int4, int4, boolean), bsky.timeline(text, int4),
  bsky.uri(int4, int4, int8), skua.change_references(int8, int4), skua.changes(int8, int4), skua.changes_between(int8, int8),
  skua.references_between(int8, int8),
  skua.append_changes(int2[], int2[], int4[], int4[], int8[], int8[], bytea[], text[], int4[], int2[], int2[], int4[], int4[], int8[]);

-- In these two tables the columns of accounts come before the column of collections, because of the alignment.
CREATE TABLE bsky.new_likes (
  rkey               int8 NOT NULL,
  rev                int8 NOT NULL,
  indexed_at         timestamptz NOT NULL,
  created_at         timestamptz,
  subject_rkey       int8,
  via_rkey           int8,
  actor_id           int8 NOT NULL,
  subject_actor      int8,
  via_actor          int8,
  subject_collection int4,
  cid                bytea NOT NULL,
  subject_cid        bytea,
  via_cid            bytea,
  extra              jsonb
);
CREATE TABLE bsky.new_reposts (LIKE bsky.new_likes);
INSERT INTO bsky.new_likes
SELECT rkey, rev, indexed_at, created_at, subject_rkey, via_rkey, actor_id, subject_actor, via_actor, subject_collection, cid,
  subject_cid, via_cid, extra
FROM bsky.likes;
INSERT INTO bsky.new_reposts
SELECT rkey, rev, indexed_at, created_at, subject_rkey, via_rkey, actor_id, subject_actor, via_actor, subject_collection, cid,
  subject_cid, via_cid, extra
FROM bsky.reposts;
DROP TABLE bsky.likes, bsky.reposts;
ALTER TABLE bsky.new_likes RENAME TO likes;
ALTER TABLE bsky.new_reposts RENAME TO reposts;
ALTER TABLE bsky.likes ADD CONSTRAINT likes_pkey PRIMARY KEY (actor_id, rkey);
ALTER TABLE bsky.reposts ADD CONSTRAINT reposts_pkey PRIMARY KEY (actor_id, rkey);

-- All other columns of accounts, those of the tables of projections included: one pass over each table.
DO $$
DECLARE
  changed record;
BEGIN
  FOR changed IN
    SELECT a.attrelid::regclass AS relation,
      string_agg(format('ALTER COLUMN %I TYPE %s', a.attname, CASE a.atttypid WHEN 'int4'::regtype THEN 'int8' ELSE 'int8[]' END), ', '
        ORDER BY a.attnum) AS columns
    FROM pg_attribute AS a JOIN pg_class AS r ON r.oid = a.attrelid
    WHERE r.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) AND r.relkind IN ('r', 'p') AND NOT r.relispartition
      AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('int4'::regtype, 'int4[]'::regtype)
      AND (a.attname ~ '^(actor_id|account|recipient|mentions|leased_key|\w+_actor)$' OR a.attrelid = 'bsky.actors'::regclass)
    GROUP BY a.attrelid
  LOOP
    EXECUTE format('ALTER TABLE %s %s', changed.relation, changed.columns);
  END LOOP;
END
$$;

-- The change of its type resets the storage of a column, in each partition.
ALTER TABLE skua.change_log ALTER actor_id SET STORAGE EXTERNAL, ALTER ref_actor SET STORAGE EXTERNAL;

CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id);
CREATE INDEX reposts_subject ON bsky.reposts (subject_actor, subject_rkey, actor_id);

DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN SELECT * FROM shown_projections LOOP
    EXECUTE format('CREATE VIEW bsky.%I AS SELECT %s WHERE false', shown.name, shown.columns);
    EXECUTE shown.comments;
    IF shown.consumer_id IS NOT NULL THEN
      PERFORM skua.show_projection(shown.name, shown.consumer_id);
    END IF;
  END LOOP;
END
$$;
