-- Projections that users add (ADR 14). Their tables and views are in a schema of their own.

CREATE TABLE skua.projections (
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  version  int4        NOT NULL CHECK (version >= 1),
  name     text        NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  help     text        NOT NULL,
  sha256   text        NOT NULL CONSTRAINT projections_sha256 UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  text     text        NOT NULL CHECK (octet_length(text) <= 262144),
  PRIMARY KEY (name, version)
);
COMMENT ON TABLE skua.projections IS 'The projections that users added: the newest version of each, and earlier versions whose tables still exist. `skua projection` reads and changes them.';
COMMENT ON COLUMN skua.projections.added_at IS 'The time at which this version was added.';
COMMENT ON COLUMN skua.projections.version IS 'The version in the file.';
COMMENT ON COLUMN skua.projections.name IS 'The name of the projection and of its consumer.';
COMMENT ON COLUMN skua.projections.help IS 'One sentence about the projection, from the file.';
COMMENT ON COLUMN skua.projections.sha256 IS 'The SHA-256 of the text, in hexadecimal digits.';
COMMENT ON COLUMN skua.projections.text IS 'The file.';

ALTER TABLE skua.consumers
  ADD COLUMN definition text REFERENCES skua.projections (sha256),
  ADD CONSTRAINT consumers_definition CHECK (definition IS NULL OR kind = 'projection');
COMMENT ON COLUMN skua.consumers.definition IS 'The text that built the tables of a projection of a user (skua.projections.sha256). Null: the projection is built in, or the consumer is no projection.';

CREATE SCHEMA projections;
COMMENT ON SCHEMA projections IS 'The views of projections that users added, and their tables and functions.';
