#include "recheck/recheck.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "lexicon/built_in.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/session_thread.hpp"
#include "recheck/recheck.sql.hpp"
#include "recheck/verdict.hpp"
#include "records/record.hpp"
#include "writer/effects.hpp"

namespace skua::recheck {

namespace {

/// The limit keeps the server's table of locks from filling up, because each change may need the
/// lock of another account.
constexpr std::size_t kChangesOfStep = 500;

/// The place where a pass through a table continues. It is null if the pass has ended.
struct PassRow {
  std::optional<std::string> next_row;
  std::int64_t end_block;
  std::int64_t block_bytes;
  std::int64_t table_bytes;
};

struct TablePass {
  std::string table_name;
  std::string lexicons;
  bool is_done;
};

/// `is_old`: all processes have had the time to apply this version.
struct LexiconState {
  std::int64_t version;
  bool is_old;
};

/// Returns the value of the column `lexicons` for a pass through the table.
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

class Pass {
 public:
  Pass(const RecheckServices& services, const writer::TableWriter& table, const Lexicons& lexicons)
      : services_(services),
        table_(table),
        added_(*lexicons.added),
        lexicons_(name_of(table, lexicons)) {}

  /// Reads rows, and changes at most `most` of them.
  RecheckStep step(std::size_t most) {
    if (!find_place()) return {.is_end = true};
    found_ = judge_all(read_stretch(services_.session, table_, place_, end_block_), is_typed(),
                       added_, most);
    std::vector<event::ResolvedEvent*> events;
    events.reserve(found_.verdicts.size());
    for (Verdict& verdict : found_.verdicts) events.push_back(&verdict.event);
    // There are no conflicts, because the number of a record key in a row already stands for the
    // text of the row.
    ids::Resolver(services_.session, services_.ids, services_.clock).resolve(events);
    return write();
  }

  /// Continues the pass after a failed step, without a change of the rows of the step.
  RecheckStep skip(const postgres::DataError& refused) {
    for (const Verdict& verdict : found_.verdicts) {
      logger("recheck")->warn("{} stays as it is: {}", verdict.event.event.at_uri(),
                              refused.what());
    }
    found_.verdicts.clear();
    return write();
  }

 private:
  bool is_typed() const { return table_.collection_id() != 0; }

  /// Begins a pass if none has begun. Returns false if the pass has ended.
  bool find_place() {
    const auto read = [&] {
      return services_.session.query_first<PassRow>(sql::recheck_place, table_.name(), lexicons_);
    };
    auto pass = read();
    if (!pass) {
      services_.session.execute(sql::recheck_begin, table_.name(), lexicons_);
      pass = read();
    }
    if (!pass || !pass->next_row) return false;
    place_ = Place::parse(*pass->next_row);
    end_block_ = pass->end_block;
    block_bytes_ = pass->block_bytes;
    table_bytes_ = pass->table_bytes;
    return true;
  }

  RecheckStep write() {
    postgres::Session& session = services_.session;
    postgres::Transaction transaction(session);
    const bool is_ours =
        !session.execute(sql::recheck_lock_place, table_.name(), lexicons_, place_.text()).empty();
    if (!is_ours) return {.is_end = true};
    std::size_t changed = 0;
    if (!found_.verdicts.empty()) {
      writer::Effects effects;
      changed = change_rows(session, table_, found_.verdicts, effects);
      effects.finish(session);
    }
    const std::optional<std::string> next =
        found_.is_end ? std::nullopt : std::optional(found_.next.text());
    session.execute(sql::recheck_advance, table_.name(), next, changed);
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

Lexicons present_lexicons(postgres::Session& session, const Lexicons& known) {
  Lexicons lexicons;
  lexicons.added = lexicon_store::load_added_checks(session, known.added);
  const auto state = session.query_one<LexiconState>(sql::recheck_settled);
  lexicons.is_settled = state.version == lexicons.added->version && state.is_old;
  return lexicons;
}

std::vector<const writer::TableWriter*> due_tables(postgres::Session& session,
                                                   const Lexicons& lexicons) {
  if (session.query_one<bool>(sql::recheck_bootstrap)) return {};
  const auto passes = session.query<TablePass>(sql::recheck_passes);
  std::vector<const writer::TableWriter*> due;
  for (const auto* table : all_tables()) {
    if (table->collection_id() == 0 && !lexicons.added->fault.empty()) continue;
    const bool is_done = std::ranges::any_of(passes, [&](const TablePass& pass) {
      return pass.is_done && pass.table_name == table->name() &&
             pass.lexicons == name_of(*table, lexicons);
    });
    if (!is_done) due.push_back(table);
  }
  return due;
}

RecheckStep recheck_step(const RecheckServices& services, const writer::TableWriter& table,
                         const Lexicons& lexicons) {
  Pass pass(services, table, lexicons);
  try {
    return pass.step(kChangesOfStep);
  } catch (const postgres::DataError&) {
    // The rows are changed one by one, so that the row that the database refuses is alone in its
    // transaction.
    try {
      return pass.step(1);
    } catch (const postgres::DataError& refused) {
      return pass.skip(refused);
    }
  }
}

Rechecker::Rechecker(postgres::Runtime& runtime, ids::SharedIds& ids,
                     std::chrono::milliseconds interval)
    : ids_(ids),
      clock_(runtime.clocks.server),
      interval_(interval),
      thread_(runtime,
              {.session_name = postgres::process_name("skua recheck"),
               .component = "recheck",
               .failure = "stored records are not checked against changed lexicons"},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                check(session.get(), stop);
                return interval_;
              }) {}

void Rechecker::check(postgres::Session& session, const std::stop_token& stop) {
  lexicons_ = present_lexicons(session, lexicons_);
  if (!lexicons_.is_settled) return;
  postgres::PassBudget budget;
  for (const writer::TableWriter* table : due_tables(session, lexicons_)) {
    while (!stop.stop_requested()) {
      const RecheckStep step = recheck_step({session, ids_, clock_, metrics_}, *table, lexicons_);
      const bool has_budget = budget.spend(step.bytes, step.table_bytes);
      if (step.is_end) break;
      if (!has_budget) return;
    }
  }
}

}  // namespace skua::recheck
