-- name: catalog_text
SELECT text FROM skua.projections WHERE sha256 = $1::text;

-- name: catalog_newest
SELECT sha256 FROM skua.projections WHERE name = $1::text ORDER BY version DESC LIMIT 1;

-- name: catalog_used
SELECT coalesce(definition, '')
FROM skua.consumers
WHERE name = $1::text AND kind = 'projection' AND role <> 'retired'
ORDER BY role
LIMIT 1;

-- name: catalog_names
SELECT DISTINCT name FROM skua.projections;

-- name: catalog_read
SELECT p.name, p.version, p.help, p.sha256, p.text, p.added_at,
  coalesce((
    SELECT string_agg(c.role || ', ' || c.state, '; ' ORDER BY c.id)
    FROM skua.consumers AS c
    WHERE c.definition = p.sha256 AND c.role <> 'retired'
  ), '')
FROM skua.projections AS p
ORDER BY p.name, p.version;

-- name: catalog_is_used
SELECT EXISTS (SELECT FROM skua.consumers WHERE definition = $1::text);

-- name: catalog_other_consumer
-- Whether a webhook or pull consumer has the name.
SELECT EXISTS (SELECT FROM skua.consumers WHERE name = $1::text AND kind <> 'projection');

-- name: catalog_insert
INSERT INTO skua.projections (name, version, help, sha256, text)
VALUES ($1::text, $2::int4, $3::text, $4::text, $5::text);

-- name: catalog_remove_version
DELETE FROM skua.projections WHERE name = $1::text AND version = $2::int4;

-- name: catalog_remove_unused
DELETE FROM skua.projections AS p
WHERE p.name = $1::text
  AND p.version < (SELECT max(n.version) FROM skua.projections AS n WHERE n.name = p.name)
  AND NOT EXISTS (SELECT FROM skua.consumers AS c WHERE c.definition = p.sha256);

-- name: catalog_forget_retired
-- The tables of a retired consumer can be dropped without the text.
UPDATE skua.consumers SET definition = NULL WHERE name = $1::text AND role = 'retired';

-- name: catalog_remove
DELETE FROM skua.projections WHERE name = $1::text;

-- name: catalog_relation
-- Whether the schema projections has a relation of this name.
SELECT to_regclass(format('projections.%I', $1::text)) IS NOT NULL;

-- name: catalog_has_consumers
-- Whether a consumer, also a retired one, has the projection of a user.
SELECT EXISTS (SELECT FROM skua.consumers WHERE definition IS NOT NULL);

-- name: catalog_declare
SELECT skua.declare_own_projection($1::text, $2::text, $3::text, $4::boolean);
