-- The languages of a post become one text, which has 26 bytes less than an array of one language. The table is written again, while
-- nobody can read it. The views and functions with its column are dropped; their files create them again after this migration.
DO $$
DECLARE
  reader text;
BEGIN
  FOR reader IN
    SELECT p.oid::regprocedure FROM pg_proc AS p
    WHERE p.pronamespace = 'bsky'::regnamespace AND p.prorettype = to_regtype('bsky.posts_view')
  LOOP
    EXECUTE 'DROP FUNCTION ' || reader;
  END LOOP;
END
$$;
DROP VIEW IF EXISTS bsky.posts_view, bsky.replies_view, bsky.quotes_view;
ALTER TABLE bsky.posts ALTER COLUMN langs TYPE text USING array_to_string(langs, ' ');
COMMENT ON COLUMN bsky.posts.langs IS 'The languages that the author states, as language tags, with spaces between them. bsky.posts_view has an array of them.';

INSERT INTO skua.record_fields VALUES ('posts', 'langs', 'langs', NULL, 'to_jsonb(string_to_array(t.langs, '' ''))');
