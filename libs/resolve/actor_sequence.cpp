#include "resolve/actor_sequence.hpp"

#include "base/log.hpp"
#include "resolve/actor_sequence.sql.hpp"

namespace skua::resolve {

bool raise_actor_sequence(store::Session& session) {
  if (!session.execute(sql::actors_sequence_is_behind, {}).boolean(0, 0)) return false;
  store::Transaction transaction(session);
  // This statement changes nothing, but takes the lock that every nextval waits for. So no session
  // draws a number between the read of the last value and the move.
  session.run("ALTER SEQUENCE bsky.actors_id_seq NO CYCLE");
  const store::Rows moved = session.execute(sql::actors_sequence_raise, {});
  transaction.commit();
  if (moved.empty()) return false;
  logger("store")->warn(
      "the sequence of account numbers was behind the accounts, as after a restore; it continues "
      "after {}",
      moved.int8(0, 0));
  return true;
}

}  // namespace skua::resolve
