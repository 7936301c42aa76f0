-- fragment: schema_objects
-- Returns the functions and views of our schemas, such as `view bsky.posts_view`. Each CREATE OR REPLACE changes the place.
objects AS (
  SELECT o.classid, o.objid, o.place, i.type || ' ' || i.identity AS name
  FROM (
    SELECT 'pg_proc'::regclass::oid AS classid, p.oid AS objid, p.ctid::text AS place, p.pronamespace AS schema
    FROM pg_proc AS p
    UNION ALL
    SELECT 'pg_class'::regclass::oid, c.oid, r.ctid::text, c.relnamespace
    FROM pg_class AS c
    JOIN pg_rewrite AS r ON r.ev_class = c.oid
    WHERE c.relkind = 'v'
  ) AS o
  JOIN pg_namespace AS n ON n.oid = o.schema AND n.nspname IN ('bsky', 'skua')
  CROSS JOIN LATERAL pg_identify_object(o.classid, o.objid, 0) AS i
)

-- name: definitions_objects
WITH {{schema_objects}}
SELECT name, place FROM objects;

-- name: definitions_dependents
-- Returns the named objects and all objects that depend on them. An object comes before the objects on which it depends. A view
-- depends on another view through its rule, and a function depends on it through the row type.
WITH RECURSIVE {{schema_objects}},
dependents(classid, objid, depth) AS (
  SELECT classid, objid, 0 FROM objects WHERE name = ANY($1::text[])
  UNION
  SELECT d.classid, d.objid, s.depth + 1
  FROM dependents AS s
  CROSS JOIN LATERAL (
    SELECT CASE WHEN r.oid IS NULL THEN p.classid ELSE 'pg_class'::regclass::oid END AS classid,
      coalesce(r.ev_class, p.objid) AS objid
    FROM pg_depend AS p
    LEFT JOIN pg_rewrite AS r ON p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid
    WHERE p.refclassid = s.classid AND p.refobjid = s.objid
  ) AS d
  WHERE (d.classid, d.objid) <> (s.classid, s.objid)
)
SELECT i.type || ' ' || i.identity
FROM dependents AS d
CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i
WHERE d.classid <> 'pg_type'::regclass
GROUP BY 1
ORDER BY max(d.depth) DESC, 1;

-- name: definitions_owned_objects
SELECT unnest(objects), name FROM skua.schema_files;

-- name: definitions_have_lexicons
SELECT to_regclass('skua.lexicons') IS NOT NULL;

-- name: definitions_lexicon_views
SELECT format('view lexicon.%I', view_name) FROM skua.lexicons WHERE view_name IS NOT NULL;

-- name: definitions_files
-- The last column tells whether all objects of the file exist.
WITH {{schema_objects}}
SELECT f.name, f.checksum, f.objects <@ ARRAY(SELECT o.name FROM objects AS o) FROM skua.schema_files AS f;

-- name: definitions_file_names
SELECT name FROM skua.schema_files;

-- name: definitions_save
INSERT INTO skua.schema_files (name, checksum, objects)
VALUES ($1::text, $2::text, $3::text[])
ON CONFLICT (name)
DO UPDATE SET checksum = EXCLUDED.checksum, objects = EXCLUDED.objects, applied_at = EXCLUDED.applied_at;

-- name: definitions_forget
DELETE FROM skua.schema_files WHERE name = $1::text;

-- name: migrations_have_table
SELECT to_regclass('skua.migrations') IS NOT NULL;

-- name: migrations_read
SELECT version, name, checksum FROM skua.migrations;

-- name: migrations_record
INSERT INTO skua.migrations (version, name, checksum) VALUES ($1::int4, $2::text, $3::text);
