#include "recheck/recheck.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "lexicon/built_in.hpp"
#include "recheck/recheck.sql.hpp"
#include "recheck/row_changes.hpp"
#include "recheck/stored_rows.hpp"
#include "recheck/verdict.hpp"
#include "records/record.hpp"
#include "writer/effects.hpp"

namespace skua::recheck {
namespace {

using store::Params;

/// Each may need the lock of another account, and the server's table of locks is small.
constexpr std::size_t kChangesOfStep = 500;

/// `lexicons` of a pass through the table.
std::string name_of(const writer::TableWriter& table, const Lexicons& lexicons) {
  const std::string& built_in = lexicon::built_in_fingerprint();
  if (table.collection_id() != 0) return built_in;
  return fmt::format("{} {}", built_in, lexicons.added->version);
}

std::vector<const writer::TableWriter*> all_tables() {
  std::vector<const writer::TableWriter*> tables = {&writer::records_table()};
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const auto* table = writer::table_of(id)) tables.push_back(table);
  }
  return tables;
}

/// The rows to change, and where the next step continues.
struct Findings {
  std::vector<Verdict> verdicts;
  std::size_t checked = 0;
  std::size_t json_bytes = 0;
  Place next;
  bool is_end = false;
};

Findings judge_all(const Stretch& stretch, bool is_typed, const lexicon_store::AddedChecks& added,
                   std::size_t most) {
  Findings found{.verdicts = {},
                 .json_bytes = stretch.json_bytes,
                 .next = stretch.next,
                 .is_end = stretch.is_end};
  for (const StoredRow& row : stretch.rows) {
    ++found.checked;
    auto verdict = judge(row, is_typed, added);
    if (!verdict) continue;
    found.verdicts.push_back(std::move(*verdict));
    if (found.verdicts.size() < most) continue;
    found.next = row.place.after();
    found.is_end = false;
    break;
  }
  return found;
}

/// A pass through one table.
class Pass {
 public:
  Pass(const RecheckServices& services, const writer::TableWriter& table, const Lexicons& lexicons)
      : services_(services),
        table_(table),
        added_(*lexicons.added),
        lexicons_(name_of(table, lexicons)) {}

  /// Reads rows, and changes as many as `most`.
  RecheckStep step(std::size_t most) {
    if (!find_place()) return {.is_end = true};
    found_ = judge_all(read_stretch(services_.session, table_, place_, end_block_), is_typed(),
                       added_, most);
    std::vector<event::ResolvedEvent*> events;
    events.reserve(found_.verdicts.size());
    for (Verdict& verdict : found_.verdicts) events.push_back(&verdict.event);
    // A key in a row stands for the text that the row has: there are no conflicts.
    resolve::Resolver(services_.session, services_.ids, services_.clock).resolve(events);
    return write();
  }

  /// After a failed step: leaves its rows as they are.
  RecheckStep skip(const store::DataError& refused) {
    for (const Verdict& verdict : found_.verdicts) {
      logger("recheck")->warn("{} stays as it is: {}", verdict.event.event.at_uri(),
                              refused.what());
    }
    found_.verdicts.clear();
    return write();
  }

 private:
  bool is_typed() const { return table_.collection_id() != 0; }

  Params pass_key() const {
    Params key;
    key.text(table_.name()).text(lexicons_);
    return key;
  }

  /// Begins a pass if none has begun. False: it is at its end.
  bool find_place() {
    store::Rows at = services_.session.execute(sql::recheck_place, pass_key());
    if (at.empty()) {
      services_.session.execute(sql::recheck_begin, pass_key());
      at = services_.session.execute(sql::recheck_place, pass_key());
    }
    if (at.empty() || at.is_null(0, 0)) return false;
    place_ = Place::parse(at.text(0, 0));
    end_block_ = at.int8(0, 1);
    block_bytes_ = at.int8(0, 2);
    table_bytes_ = at.int8(0, 3);
    return true;
  }

  RecheckStep write() {
    store::Session& session = services_.session;
    store::Transaction transaction(session);
    Params at = pass_key();
    at.text(place_.text());
    if (session.execute(sql::recheck_lock_place, at).empty()) return {.is_end = true};
    std::size_t changed = 0;
    if (!found_.verdicts.empty()) {
      writer::Effects effects;
      changed = change_rows(session, table_, found_.verdicts, effects);
      effects.finish(session);
    }
    Params progress;
    progress.text(table_.name());
    found_.is_end ? progress.null() : progress.text(found_.next.text());
    progress.int8(static_cast<std::int64_t>(changed));
    session.execute(sql::recheck_advance, progress);
    crash_point("before_recheck_commit");
    transaction.commit();
    services_.metrics.checked += found_.checked;
    services_.metrics.changed += changed;
    return {.is_end = found_.is_end,
            .bytes = std::max((found_.next.block - place_.block) * block_bytes_,
                              static_cast<std::int64_t>(found_.json_bytes)),
            .table_bytes = table_bytes_};
  }

  const RecheckServices& services_;
  const writer::TableWriter& table_;
  const lexicon_store::AddedChecks& added_;
  const std::string lexicons_;
  Place place_;
  std::int64_t end_block_ = 0;
  std::int64_t block_bytes_ = 0;
  std::int64_t table_bytes_ = 0;
  Findings found_;
};

}  // namespace

Lexicons present_lexicons(store::Session& session, const Lexicons& known) {
  Lexicons lexicons;
  lexicons.added = lexicon_store::load_added_checks(session, known.added);
  const store::Rows state = session.execute(sql::recheck_settled, {});
  lexicons.is_settled = state.int8(0, 0) == lexicons.added->version && state.boolean(0, 1);
  return lexicons;
}

std::vector<const writer::TableWriter*> due_tables(store::Session& session,
                                                   const Lexicons& lexicons) {
  if (session.execute(sql::recheck_bootstrap, {}).boolean(0, 0)) return {};
  const store::Rows passes = session.execute(sql::recheck_passes, {});
  std::vector<const writer::TableWriter*> due;
  for (const auto* table : all_tables()) {
    if (table->collection_id() == 0 && !lexicons.added->fault.empty()) continue;
    bool is_done = false;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      is_done = is_done || (passes.text(i, 0) == table->name() &&
                            passes.text(i, 1) == name_of(*table, lexicons) && passes.boolean(i, 2));
    }
    if (!is_done) due.push_back(table);
  }
  return due;
}

RecheckStep recheck_step(const RecheckServices& services, const writer::TableWriter& table,
                         const Lexicons& lexicons) {
  Pass pass(services, table, lexicons);
  try {
    return pass.step(kChangesOfStep);
  } catch (const store::DataError&) {
    // One row after the other, so that the one that the database refuses stands alone.
    try {
      return pass.step(1);
    } catch (const store::DataError& refused) {
      return pass.skip(refused);
    }
  }
}

}  // namespace skua::recheck
