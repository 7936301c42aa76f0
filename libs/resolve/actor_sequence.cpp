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

const store::Statement kLast{"actors_sequence_last",
                             "SELECT last_value::float8 / 2147483647 FROM bsky.actors_id_seq"};

}  // namespace

double actor_numbers_used(store::Session& session) {
  return session.execute(kLast, {}).real(0, 0);
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
  if (!session.execute(kIsBehind, {}).boolean(0, 0)) return false;
  store::Transaction transaction(session);
  // It changes nothing, and holds the lock that every nextval waits for: between the look at the
  // last value and the move nobody draws.
  session.run("ALTER SEQUENCE bsky.actors_id_seq NO CYCLE");
  const store::Rows moved = session.execute(kRaise, {});
  transaction.commit();
  if (moved.empty()) return false;
  logger("store")->warn(
      "the sequence of account numbers was behind the accounts, as after a restore; it continues "
      "after {}",
      moved.int8(0, 0));
  return true;
}

}  // namespace skua::resolve
