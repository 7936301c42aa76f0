#include "backfill/bootstrap_indexes.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "store/advisory_lock.hpp"
#include "store/process_name.hpp"

namespace skua::backfill {
namespace {

using store::Params;
using store::Rows;
using store::Session;
using store::Statement;
using store::Transaction;

/// All tables of bsky but those of names, which every row is looked up in.
const std::string kRecordTables =
    "FROM pg_class AS t WHERE t.relnamespace = 'bsky'::regnamespace AND t.relkind = 'r' "
    "AND t.relname NOT IN ('actors', 'collections', 'rkeys')";

const Statement kIsOpen{"bootstrap_is_open", "SELECT EXISTS (SELECT FROM skua.dropped_indexes)"};

// An index that a constraint needs cannot be dropped by itself, and a unique one is a promise.
const Statement kRecord{"bootstrap_record",
                        "INSERT INTO skua.dropped_indexes (name, relation, definition) "
                        "SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text, "
                        "pg_get_indexdef(i.indexrelid) FROM pg_index AS i WHERE NOT i.indisunique "
                        "AND i.indrelid IN (SELECT t.oid " +
                            kRecordTables + ") RETURNING name"};

const Statement kNext{"bootstrap_next",
                      "SELECT name, definition FROM skua.dropped_indexes "
                      "ORDER BY pg_relation_size(to_regclass(relation)) DESC NULLS LAST, name "
                      "LIMIT 1 FOR UPDATE SKIP LOCKED"};

const Statement kFound{"bootstrap_found",
                       "SELECT i.indisvalid FROM pg_index AS i "
                       "WHERE i.indexrelid = to_regclass($1)"};

const Statement kForget{"bootstrap_forget", "DELETE FROM skua.dropped_indexes WHERE name = $1"};

void refuse_filled_tables(Session& session) {
  const Rows tables = session.run("SELECT t.oid::regclass " + kRecordTables + " ORDER BY 1");
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string table(tables.text(i, 0));
    if (session.run("SELECT EXISTS (SELECT FROM " + table + ")").boolean(0, 0)) {
      throw BootstrapRefused(fmt::format(
          "a bootstrap fills an empty database, and {} has rows: leave --bootstrap out", table));
    }
  }
}

/// Builds the next index that nobody else builds; nothing: there is none. In one transaction with
/// the row that asks for it, so that neither outlives the other.
std::optional<std::string> build_next(Session& session) {
  Transaction transaction(session);
  const Rows next = session.execute(kNext, {});
  if (next.empty()) return std::nullopt;
  const std::string name(next.text(0, 0));
  Params params;
  params.text(name);
  // Somebody may have made it by hand, and may have broken off CREATE INDEX CONCURRENTLY.
  const Rows found = session.execute(kFound, params);
  const bool is_there = !found.empty() && found.boolean(0, 0);
  if (!found.empty() && !is_there) session.run("DROP INDEX " + name);
  if (!is_there) session.run(std::string(next.text(0, 1)));
  session.execute(kForget, params);
  transaction.commit();
  return name;
}

}  // namespace

bool bootstrap_is_open(Session& session) {
  return session.execute(kIsOpen, {}).boolean(0, 0);
}

std::size_t begin_bootstrap(Session& session) {
  Transaction transaction(session);
  if (!store::keep_sources_away_xact(session)) {
    throw BootstrapRefused(fmt::format(
        "a bootstrap fills a database that nothing else writes to, and a source is being indexed "
        "by {}: stop that first, and start it again when the bootstrap is over",
        store::any_source_holder(session).value_or("a session that has just ended")));
  }
  if (bootstrap_is_open(session)) return 0;
  refuse_filled_tables(session);
  session.run("SET LOCAL lock_timeout = '10s'");
  const Rows names = session.execute(kRecord, {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    session.run("DROP INDEX " + std::string(names.text(i, 0)));
  }
  transaction.commit();
  return names.size();
}

std::size_t finish_bootstrap(const std::string& url, const IndexBuilds& builds,
                             const std::function<void(const std::string& name)>& on_built) {
  const int at_once = std::max(builds.at_once, 1);
  const std::int64_t memory_mb = std::max<std::int64_t>(builds.memory_mb / at_once, 16);
  std::mutex mutex;
  std::size_t built = 0;
  std::exception_ptr failure;
  const auto build_all = [&] {
    try {
      Session session(url, store::process_name("skua indexes"));
      session.run(fmt::format("SET maintenance_work_mem = '{}MB'", memory_mb));
      while (const auto name = build_next(session)) {
        const std::scoped_lock lock(mutex);
        ++built;
        if (on_built) on_built(*name);
        if (failure) return;
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(at_once));
    for (int i = 0; i < at_once; ++i) threads.emplace_back(build_all);
  }
  if (failure) std::rethrow_exception(failure);
  return built;
}

}  // namespace skua::backfill
