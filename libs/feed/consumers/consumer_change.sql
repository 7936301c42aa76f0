-- name: consumers_lock
-- A build holds the row of its consumer, so that no second one begins. Commands take this lock
-- first, and wait for a moment.
LOCK TABLE skua.consumers IN SHARE UPDATE EXCLUSIVE MODE;

-- name: consumers_exists
SELECT EXISTS (SELECT 1 FROM skua.consumers WHERE name = $1::text AND role <> 'retired');
