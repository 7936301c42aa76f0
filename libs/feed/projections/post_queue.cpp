#include "feed/projections/post_queue.hpp"

#include <utility>

namespace skua::feed {
namespace {

/// The accounts that have a turn in one batch. The same ones until `take_posts` ends it.
constexpr const char* kTurns = R"sql(
turns AS MATERIALIZED (SELECT account, served_at FROM {turns} ORDER BY served_at, account LIMIT 200)
)sql";

/// Accounts without work, of those that come next.
constexpr const char* kForget = R"sql(
DELETE FROM {turns} AS t USING (SELECT account FROM {turns} ORDER BY served_at, account LIMIT 1000) AS n
WHERE t.account = n.account AND NOT EXISTS (SELECT FROM {queue} AS q WHERE q.account = t.account)
  AND NOT EXISTS (SELECT FROM {due} AS d WHERE d.account = t.account)
)sql";

/// The oldest keys of accounts without due posts: the first keys of all accounts, then the second
/// ones, until they have 2,000 posts. A key with 300 posts or more counts as one with 2,000: of
/// such keys one at most is taken, and their posts are not counted.
constexpr const char* kTake = R"sql(
WITH {common},
waiting AS MATERIALIZED (SELECT t.* FROM turns AS t WHERE NOT EXISTS (SELECT FROM {due} AS d WHERE d.account = t.account)),
keys AS MATERIALIZED (
  SELECT w.served_at, q.*, row_number() OVER (PARTITION BY w.account ORDER BY q.pos, q.kind, q.actor_id, q.rkey) AS turn
  FROM waiting AS w CROSS JOIN LATERAL (SELECT * FROM {queue} AS q WHERE q.account = w.account
    ORDER BY q.pos LIMIT greatest(1, 1000 / (SELECT count(*) FROM waiting))) AS q
),
sized AS MATERIALIZED (
  SELECT q.*, CASE WHEN p.count < 300 THEN p.count ELSE 2000 END AS size FROM keys AS q
  CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM ({posts}) AS p LIMIT 300) AS p) AS p
),
chosen AS (
  SELECT s.*, sum(size) OVER (ORDER BY turn, served_at, account ROWS UNBOUNDED PRECEDING) - size AS before FROM sized AS s
),
taken AS (
  DELETE FROM {queue} AS q USING chosen AS c WHERE c.before < 2000 AND q.account = c.account AND q.kind = c.kind
    AND q.actor_id = c.actor_id AND q.rkey = c.rkey RETURNING q.*
),
noted AS (
  UPDATE {turns} AS t SET due_pos = o.pos FROM (SELECT account, min(pos) AS pos FROM taken GROUP BY 1) AS o
  WHERE t.account = o.account
)
INSERT INTO {due} (account, actor_id, rkey)
SELECT DISTINCT q.account, p.actor_id, p.rkey FROM taken AS q CROSS JOIN LATERAL ({posts}) AS p ORDER BY 1, 2, 3
ON CONFLICT (account, actor_id, rkey) DO NOTHING
)sql";

constexpr const char* kPosts = R"sql({common},
with_posts AS MATERIALIZED (SELECT t.account FROM turns AS t WHERE EXISTS (SELECT FROM {due} AS d WHERE d.account = t.account)),
served AS (UPDATE {turns} AS t SET served_at = clock_timestamp() FROM turns AS n WHERE t.account = n.account),
taken AS (
  DELETE FROM {due} AS d USING (
    SELECT n.* FROM with_posts AS w CROSS JOIN LATERAL (SELECT * FROM {due} AS d WHERE d.account = w.account
      ORDER BY d.actor_id, d.rkey LIMIT greatest(1, 2000 / (SELECT count(*) FROM with_posts))) AS n
  ) AS n
  WHERE d.account = n.account AND d.actor_id = n.actor_id AND d.rkey = n.rkey RETURNING d.actor_id, d.rkey
))sql";

constexpr const char* kWaitingPosition = R"sql(
SELECT least((SELECT min(pos) FROM {queue}),
  (SELECT min(t.due_pos) FROM {turns} AS t WHERE EXISTS (SELECT FROM {due} AS d WHERE d.account = t.account))),
  EXISTS (SELECT FROM {due})
)sql";

constexpr const char* kQueue = R"sql(
WITH {with}
queued AS (
  INSERT INTO {queue} (account, kind, actor_id, rkey, pos)
  SELECT account, kind, actor_id, rkey, min(pos) FROM ({keys}) AS k GROUP BY 1, 2, 3, 4
  ON CONFLICT (account, kind, actor_id, rkey) DO NOTHING RETURNING account
)
INSERT INTO {turns} (account) SELECT DISTINCT account FROM queued ON CONFLICT (account) DO NOTHING
)sql";

void replace_all(std::string& text, std::string_view place, std::string_view by) {
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at)) {
    text.replace(at, place.size(), by);
    at += by.size();
  }
}

/// The names of the tables are those that `sql_for` replaces.
std::string sql_of(const PostQueue& queue, std::string_view form) {
  std::string sql(form);
  replace_all(sql, "{with}", queue.with);
  replace_all(sql, "{keys}", queue.keys);
  replace_all(sql, "{common}", kTurns);
  replace_all(sql, "{posts}", queue.posts);
  for (const char* table : {"queue", "due", "turns"}) {
    replace_all(sql, "{" + std::string(table) + "}",
                "{" + std::string(queue.projection) + "_" + table + "}");
  }
  return sql;
}

}  // namespace

std::string queue_keys(const PostQueue& queue) {
  return sql_of(queue, kQueue);
}

std::vector<std::string> take_keys(const PostQueue& queue) {
  return {sql_of(queue, kForget), sql_of(queue, kTake)};
}

std::string take_posts(const PostQueue& queue) {
  return sql_of(queue, kPosts);
}

std::string waiting_position(const PostQueue& queue) {
  return sql_of(queue, kWaitingPosition);
}

}  // namespace skua::feed
