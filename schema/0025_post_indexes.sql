-- Posts by time, and by what their texts mention, link and tag.

-- The order of posts_view.sort_at. Stubs are left out: no view shows them.
CREATE INDEX posts_sort_at ON bsky.posts (least(created_at, indexed_at)) WHERE cid IS NOT NULL;
-- PostgreSQL does not use what ANALYZE gathers for a partial index, and would estimate a third of the table for
-- every interval of time.
CREATE STATISTICS bsky.posts_sort_at ON (least(created_at, indexed_at)) FROM bsky.posts;
COMMENT ON STATISTICS bsky.posts_sort_at IS 'How many posts an interval of sort_at has.';
COMMENT ON COLUMN bsky.posts_view.sort_at IS 'The earlier of created_at and indexed_at: what to sort posts by. Has an index.';

-- jsonb_path_ops keeps hashes: a value of any length fits.
CREATE INDEX posts_facets ON bsky.posts USING gin (facets jsonb_path_ops) WHERE facets IS NOT NULL;
COMMENT ON COLUMN bsky.posts_view.facets IS 'Mentions, links and tags in the text, as in the record (bsky.post_facets_view takes them apart). Has an index for @>, such as facets @> ''[{"features": [{"tag": "art"}]}]''.';
