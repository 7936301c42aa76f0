-- For migrations that create a table for a collection.

CREATE OR REPLACE FUNCTION skua.give_fixed_number(name text, number int4) RETURNS void
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
