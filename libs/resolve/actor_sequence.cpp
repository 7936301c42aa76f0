#include "resolve/actor_sequence.hpp"

#include "base/log.hpp"
#include "resolve/actor_sequence.sql.hpp"

namespace skua::resolve {

double actor_numbers_used(store::Session& session) {
  return session.execute(sql::actors_sequence_last, {}).real(0, 0);
}

bool ActorNumberAlarm::look_at(double used) {
  const int percent = used >= 0.8 ? 80 : used >= 0.5 ? 50 : 0;
  if (percent <= warned_percent_) return false;
  warned_percent_ = percent;
  logger("store")->warn(
      "{:.0f} % of all account numbers are used; when none is left, indexing stops: see "
      "docs/problems.md, 'Account numbers'",
      used * 100);
  return true;
}

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
