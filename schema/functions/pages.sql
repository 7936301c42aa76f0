-- Pages of lists. All lists have one order: sort_at, then the key of the record, both descending. The last row of a page is named
-- by its sort_at and its URI, which are columns of the row. Both are needed: without the time the place of a row would be lost when
-- its record is deleted, and without the URI rows with an equal time.

CREATE OR REPLACE FUNCTION skua.page_end(before timestamptz, last_uri text, OUT sort_at timestamptz, OUT actor_id int8, OUT rkey int8,
  OUT collection_id int4)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  sort_at := coalesce(before, 'infinity');
  -- Lower than all keys: rows with an equal time do not follow.
  actor_id := -9223372036854775808;
  rkey := -9223372036854775808;
  collection_id := -1;
  IF last_uri IS NULL THEN
    RETURN;
  END IF;
  IF before IS NULL THEN
    RAISE EXCEPTION 'last_uri needs before' USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Name the last row of the page by both of its columns: before => sort_at, last_uri => uri.';
  END IF;
  SELECT k.actor_id, k.rkey, k.collection_id INTO page_end.actor_id, page_end.rkey, page_end.collection_id FROM bsky.resolve_uri(page_end.last_uri) AS k;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'last_uri is not the URI of a record of a known account: %', last_uri USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Give the uri of the last row. Without last_uri the rows follow that are earlier than before.';
  END IF;
END
$$;
COMMENT ON FUNCTION skua.page_end(timestamptz, text) IS 'The end of a page of a list: the rows of the next page have a smaller (sort_at, actor_id, rkey). Without before it is above all rows.';
