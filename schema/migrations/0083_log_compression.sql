-- The arrays of the change log are compressed with lz4: numbers of a block have many equal bytes. Hashes have none. Former blocks stay
-- as they are. A PostgreSQL that was built without lz4 keeps the arrays uncompressed: its own method costs more time than it saves.

DO $$
DECLARE
  part regclass;
  name text;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_settings AS s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
    RETURN;
  END IF;
  FOR part IN SELECT t.relid FROM pg_partition_tree('skua.change_log') AS t LOOP
    FOREACH name IN ARRAY ARRAY['kind', 'op', 'actor_id', 'collection_id', 'rkey', 'rev', 'val', 'ref_change', 'ref_role', 'ref_delta',
                                'ref_actor', 'ref_collection', 'ref_rkey'] LOOP
      EXECUTE format('ALTER TABLE %s ALTER %I SET STORAGE EXTENDED, ALTER %2$I SET COMPRESSION lz4', part, name);
    END LOOP;
  END LOOP;
END
$$;
