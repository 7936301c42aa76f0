-- Advisory locks of accounts and handles get their numbers from a keyed hash, with a secret of the database: with
-- a hash that everybody can compute, a handle could be chosen to meet the lock of something else.

-- A process of an older version takes other locks: beside one of this version nothing would keep the two apart.
DO $$
DECLARE
  other text;
BEGIN
  SELECT format('''%s'' (server process %s)', a.application_name, a.pid) INTO other
  FROM pg_catalog.pg_stat_activity AS a
  WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.application_name LIKE 'skua %'
    AND a.application_name NOT LIKE 'skua migrate%' AND a.application_name NOT LIKE 'skua status%'
  ORDER BY a.pid LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'this migration changes how processes keep apart, and % still uses the database: stop all skua processes, then migrate', other
      USING ERRCODE = 'object_in_use';
  END IF;
END
$$;

CREATE TABLE skua.lock_secret (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  secret   bytea   NOT NULL CHECK (octet_length(secret) = 16)
);
INSERT INTO skua.lock_secret (secret)
VALUES (substring(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')) FROM 1 FOR 16));
COMMENT ON TABLE skua.lock_secret IS 'The key of the hash that gives accounts and handles the numbers of their advisory locks. Not for readers: who knows it could choose a handle that meets another one''s lock.';
COMMENT ON COLUMN skua.lock_secret.only_row IS 'Sees to it that there is one row.';
COMMENT ON COLUMN skua.lock_secret.secret IS '16 random bytes, drawn once.';
