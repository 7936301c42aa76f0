#include "resolve/actor_sequence.hpp"

#include "base/log.hpp"

namespace skua::resolve {
namespace {

const store::Statement kIsBehind{"actors_sequence_is_behind",
                                 "SELECT (SELECT coalesce(max(id), 0) FROM bsky.actors) > "
                                 "(SELECT last_value FROM bsky.actors_id_seq)"};
const store::Statement kRaise{"actors_sequence_raise",
                              "SELECT setval('bsky.actors_id_seq', max(id)) FROM bsky.actors "
                              "HAVING max(id) > (SELECT last_value FROM bsky.actors_id_seq)"};

}  // namespace

bool raise_actor_sequence(store::Session& session) {
  if (!session.execute(kIsBehind, {}).boolean(0, 0)) return false;
  store::Transaction transaction(session);
  // It changes nothing, and holds the lock that every nextval waits for: between the look at the
  // last value and the move nobody draws.
  session.run("ALTER SEQUENCE bsky.actors_id_seq NO CYCLE");
  const store::Rows moved = session.execute(kRaise, {});
  transaction.commit();
  if (moved.empty()) return false;
  logger("store")->warn(
      "the sequence of account numbers stood behind the accounts, as after a restore: it goes on "
      "after {}",
      moved.int8(0, 0));
  return true;
}

}  // namespace skua::resolve
