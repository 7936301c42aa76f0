#include "recheck/row_changes.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "recheck/row_changes.sql.hpp"
#include "store/advisory_lock.hpp"
#include "writer/collection_writer.hpp"

namespace skua::recheck {
namespace {

using store::column;
using store::RecordKey;

void take_locks(store::Session& session, const std::vector<Verdict>& verdicts) {
  std::vector<store::Lock> locks;
  locks.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) {
    const auto type = static_cast<std::uint8_t>(verdict.event.event.type);
    locks.push_back(store::account_lock(session, type, verdict.row.did));
  }
  store::lock_xact(session, std::move(locks));
}

void set_reasons(store::Session& session, const std::vector<Verdict*>& verdicts) {
  const auto of_key = [&](auto member) {
    return column(verdicts, [=](const Verdict* verdict) { return verdict->row.key.*member; });
  };
  session.execute(sql::recheck_reasons, of_key(&RecordKey::actor_id),
                  of_key(&RecordKey::collection_id), of_key(&RecordKey::rkey),
                  column(verdicts, [](const Verdict* verdict) { return verdict->row.rev; }),
                  column(
                      verdicts, [](const Verdict* verdict) -> const auto& {
                        return verdict->event.record().invalid_reason;
                      }));
}

/// Moves a row to the table of its record, as if this version had written it.
void move(store::Session& session, const Verdict& verdict, writer::Effects& effects) {
  const std::int32_t collection = verdict.row.key.collection_id;
  // An invalid post has an empty row in its table, too.
  for (const auto* table : {&writer::records_table(), writer::table_of(collection)}) {
    table->discard(session, std::array{verdict.row.key}, std::nullopt, effects);
  }
  const std::array guarded = {writer::GuardedChange{&verdict.event, false}};
  if (writer::write_collection(session, collection, guarded, verdict.row.indexed_at, effects) ==
      0) {
    throw store::DefectError("a checked record has no row: " + verdict.event.event.at_uri(), "");
  }
}

}  // namespace

std::size_t change_rows(store::Session& session, const writer::TableWriter& table,
                        std::vector<Verdict>& verdicts, writer::Effects& effects) {
  take_locks(session, verdicts);
  std::vector<store::RecordKey> keys;
  keys.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) keys.push_back(verdict.row.key);
  const std::vector<std::int64_t> revs = table.read_revs(session, keys);
  std::vector<Verdict*> in_place;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Verdict& verdict = verdicts[i];
    if (revs[i] != static_cast<std::int64_t>(verdict.row.rev.value)) continue;
    ++changed;
    if (!verdict.moves(table.collection_id() != 0)) {
      in_place.push_back(&verdict);
      continue;
    }
    move(session, verdict, effects);
  }
  if (!in_place.empty()) set_reasons(session, in_place);
  return changed;
}

}  // namespace skua::recheck
