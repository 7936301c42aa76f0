-- name: lexicons_version
SELECT version FROM skua.lexicon_state;

-- name: lexicons_documents
SELECT nsid, document::text FROM skua.lexicons ORDER BY nsid;
