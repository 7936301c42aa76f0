-- name: letter_reasons
SELECT count(*), error, max(last_at), (sum(count(*)) OVER ())::int8
FROM skua.dead_letter_errors
GROUP BY error
ORDER BY 1 DESC, 2
LIMIT $1;
