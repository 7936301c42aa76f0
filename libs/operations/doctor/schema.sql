-- name: doctor_indexes
SELECT format('%I.%I', n.nspname, x.relname), i.indisvalid AND i.indisready,
  EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS p WHERE p.index_relid = i.indexrelid)
FROM pg_index AS i
JOIN pg_class AS x ON x.oid = i.indexrelid
JOIN pg_namespace AS n ON n.oid = x.relnamespace
WHERE n.nspname IN ('bsky', 'skua', 'lexicon')
ORDER BY 1;

-- name: doctor_dropped_indexes
SELECT name FROM skua.dropped_indexes;
