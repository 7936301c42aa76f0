-- name: lexicons_read
SELECT nsid, document::text, view_name, columns::text FROM skua.lexicons ORDER BY nsid;

-- name: lexicons_put
INSERT INTO skua.lexicons (nsid, document, view_name, columns)
VALUES ($1::text, $2::text::jsonb, $3::text, $4::text::jsonb)
ON CONFLICT (nsid)
DO UPDATE SET document = EXCLUDED.document, view_name = EXCLUDED.view_name, columns = EXCLUDED.columns,
  added_at = clock_timestamp();

-- name: lexicons_remove
DELETE FROM skua.lexicons WHERE nsid = $1::text;

-- name: lexicons_make_view
SELECT skua.make_lexicon_view($1::text, $2::text, $3::text::jsonb);
