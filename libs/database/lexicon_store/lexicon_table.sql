-- name: lexicons_read
SELECT nsid, document::text, view_name, columns::text FROM skua.lexicons ORDER BY nsid;

-- name: lexicons_lock
-- Writers wait for each other; readers do not wait.
LOCK TABLE skua.lexicons IN SHARE ROW EXCLUSIVE MODE;

-- name: lexicons_put
-- Without a view, $3 is empty and no columns are stored.
INSERT INTO skua.lexicons (nsid, document, view_name, columns)
VALUES ($1::text, $2::text::jsonb, nullif($3::text, ''), CASE WHEN $3::text <> '' THEN $4::text::jsonb END)
ON CONFLICT (nsid)
DO UPDATE SET document = EXCLUDED.document, view_name = EXCLUDED.view_name, columns = EXCLUDED.columns,
  added_at = clock_timestamp();

-- name: lexicons_remove
DELETE FROM skua.lexicons WHERE nsid = $1::text;

-- name: lexicons_make_view
SELECT skua.make_lexicon_view($1::text, $2::text, $3::text::jsonb);
