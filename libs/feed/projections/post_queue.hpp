#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skua::feed {

/// A queue of a projection for posts that are computed again because of the change of another
/// record, such as the replies of a thread after a change of its gate. A change puts one key into
/// the queue, and a key is in it at most once for each account. The account is the one whose change
/// it was. Accounts take turns: one that changes records again and again delays nobody else.
///
/// It has three internal tables of the projection: `<name>_queue` has the keys, `<name>_due` the
/// posts of the keys that were taken, and `<name>_turns` the accounts that wait, by the time of
/// their last turn.
struct PostQueue {
  /// Of the projection.
  std::string_view projection;
  /// Common table expressions with the parameters $1 and $2 of a fold, or empty, and a SELECT of
  /// the keys that the changes of a batch cause: account, kind, actor_id, rkey, and the position of
  /// the change.
  std::string_view with;
  std::string keys;
  /// A SELECT of the posts (actor_id, rkey) of the key `q`.
  std::string posts;
};

// The columns of the tables, as in ProjectionTable.

inline constexpr const char* kQueueColumns =
    "pos int8 NOT NULL, rkey int8 NOT NULL, actor_id int8 NOT NULL, account int8 NOT NULL, kind "
    "int4 NOT NULL, PRIMARY KEY (account, kind, actor_id, rkey)";
inline constexpr const char* kDueColumns =
    "rkey int8 NOT NULL, actor_id int8 NOT NULL, account int8 NOT NULL, PRIMARY KEY (account, "
    "actor_id, rkey)";
inline constexpr const char* kTurnColumns =
    "served_at timestamptz NOT NULL DEFAULT clock_timestamp(), due_pos int8, account int8 NOT NULL "
    "PRIMARY KEY";

/// The indexes of the tables of keys and accounts.
inline constexpr const char* kQueueIndexes[] = {"(account, pos)", "(pos)"};
inline constexpr const char* kTurnIndex = "(served_at)";

/// A statement of `Projection::fold`: puts the keys of a batch into the queue.
std::string queue_keys(const PostQueue& queue);

/// The statements of `Projection::drain` before the one that computes posts: they take keys of
/// about 2,000 posts, up to 1,000, or one larger key.
std::vector<std::string> take_keys(const PostQueue& queue);

/// Common table expressions for the statement that computes posts: `taken` has the next posts
/// (actor_id, rkey), at most 2,000 in all, and the same number for each account.
std::string take_posts(const PostQueue& queue);

/// `Projection::waiting_pos`.
std::string waiting_position(const PostQueue& queue);

}  // namespace skua::feed
