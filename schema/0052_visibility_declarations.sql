-- The table of app.bsky.actor.contentVisibilityDeclaration.

CREATE FUNCTION skua.give_fixed_number(name text, number int4) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  old int4 := (SELECT id FROM bsky.collections WHERE nsid = name);
  c record;
BEGIN
  IF old IS NULL THEN
    INSERT INTO bsky.collections (id, nsid) VALUES (number, name);
    RETURN;
  END IF;
  UPDATE bsky.collections SET id = number WHERE id = old;
  FOR c IN
    SELECT a.attrelid::regclass AS relation, a.attname, a.atttypid = 'int4[]'::regtype AS is_list
    FROM pg_attribute AS a JOIN pg_class AS r ON r.oid = a.attrelid
    WHERE r.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) AND r.relkind IN ('r', 'p') AND NOT r.relispartition
      AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('int4'::regtype, 'int4[]'::regtype)
      AND a.attname ~ '(^|_)collection(_id)?$'
  LOOP
    IF c.is_list THEN
      EXECUTE format('UPDATE %s SET %I = array_replace(%2$I, $1, $2) WHERE $1 = ANY (%2$I)', c.relation, c.attname) USING old, number;
    ELSE
      EXECUTE format('UPDATE %s SET %I = $2 WHERE %2$I = $1', c.relation, c.attname) USING old, number;
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.give_fixed_number(text, int4) IS 'Gives a collection its fixed number. A database that has records of the collection changes their number in all tables. For migrations that make a table for the collection.';

SELECT skua.give_fixed_number('app.bsky.actor.contentVisibilityDeclaration', 20);

CREATE TABLE bsky.visibility_declarations (
  rkey                      int8 NOT NULL,
  rev                       int8 NOT NULL,
  indexed_at                timestamptz NOT NULL,
  created_at                timestamptz,
  actor_id                  int4 NOT NULL,
  hide_from_algorithmic_recommendations boolean,
  cid                       bytea NOT NULL,
  extra                     jsonb,
  PRIMARY KEY (actor_id, rkey)
);
CREATE VIEW bsky.visibility_declarations_view AS
SELECT 'at://' || a.did || '/app.bsky.actor.contentVisibilityDeclaration/' || bsky.rkey_text(t.actor_id, 20, t.rkey) AS uri,
       a.did,
       a.handle,
       t.hide_from_algorithmic_recommendations,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       coalesce(a.handle, a.did) AS name
FROM bsky.visibility_declarations t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
COMMENT ON COLUMN bsky.visibility_declarations.hide_from_algorithmic_recommendations IS 'True if the account asks to hide its posts from algorithmic recommendations. An account without a record does not ask for it.';
COMMENT ON COLUMN bsky.visibility_declarations_view.hide_from_algorithmic_recommendations IS 'True if the account asks to hide its posts from algorithmic recommendations. An account without a record does not ask for it.';
COMMENT ON COLUMN bsky.visibility_declarations_view.name IS 'The handle of the author, or its DID if it has no handle.';
SELECT skua.comment_on_records('visibility_declarations', 'app.bsky.actor.contentVisibilityDeclaration', 'Rules for the appearance of posts, one per account');

DO $$
BEGIN
  EXECUTE 'CREATE OR REPLACE VIEW bsky.all_records AS ' || replace(
    pg_get_viewdef('bsky.all_records'::regclass), 'FROM bsky.labelers t_1',
    'FROM bsky.labelers t_1 UNION ALL SELECT t_1.actor_id, 20 AS collection_id, t_1.rkey, t_1.cid, t_1.rev, t_1.indexed_at '
    'FROM bsky.visibility_declarations t_1');
END
$$;

-- Records that were stored before.
WITH moved AS (
  DELETE FROM bsky.records AS r WHERE r.collection_id = 20 AND r.rkey = -244041388656280411
    AND jsonb_typeof(r.record -> 'hideFromAlgorithmicRecommendations') = 'boolean'
    AND coalesce(r.record -> '$type', '"app.bsky.actor.contentVisibilityDeclaration"') = '"app.bsky.actor.contentVisibilityDeclaration"'
    AND r.invalid_reason IS NULL
  RETURNING r.*
)
INSERT INTO bsky.visibility_declarations (rkey, rev, indexed_at, actor_id, cid, hide_from_algorithmic_recommendations, extra)
SELECT rkey, rev, indexed_at, actor_id, cid, (record -> 'hideFromAlgorithmicRecommendations')::boolean,
  nullif(record - '$type' - 'hideFromAlgorithmicRecommendations', '{}')
FROM moved;
UPDATE bsky.records SET invalid_reason = CASE
    WHEN rkey <> -244041388656280411 THEN 'rkey: must be self'
    WHEN NOT record ? 'hideFromAlgorithmicRecommendations' THEN 'hideFromAlgorithmicRecommendations: missing'
    WHEN jsonb_typeof(record -> 'hideFromAlgorithmicRecommendations') <> 'boolean' THEN 'hideFromAlgorithmicRecommendations: must be a boolean'
    ELSE '$type: must be app.bsky.actor.contentVisibilityDeclaration' END
WHERE collection_id = 20 AND invalid_reason IS NULL;

INSERT INTO skua.record_tables VALUES (20, 'visibility_declarations');
SELECT skua.make_record_json();
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
