#include "app/database.hpp"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "resolve/actor_ids.hpp"
#include "store/migrations.hpp"
#include "store/process_name.hpp"
#include "store/server_check.hpp"
#include "store/session.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {
namespace {

/// What can be held at one time: locks of the accounts of full groups, of either source, and of the
/// relations that 30 workers touch.
constexpr store::ServerNeeds kNeeds{.locks = 2 * writer::kMostWriters * writer::kGroup + 30 * 32,
                                    .connections = 58};

}  // namespace

void check_database(const std::string& url) {
  store::Session session(url, store::process_name("skua check"));
  std::string problems;
  for (const std::string& problem : store::server_problems(session, kNeeds)) {
    problems += (problems.empty() ? "" : "\n") + problem;
  }
  if (!problems.empty()) throw std::runtime_error(problems);
  const auto pending = store::pending_migrations(session, store::migrations());
  if (!pending.empty()) {
    throw std::runtime_error(
        fmt::format("the database lacks {}, from {} on: run `skua migrate` first",
                    counted(pending.size(), "migration"), pending.front().label()));
  }
}

void fill_with_actors(const std::string& url, resolve::IdCache& cache) {
  resolve::fill_with_actors(
      [&] { return std::make_unique<store::Session>(url, store::process_name("skua ids")); },
      cache);
}

}  // namespace skua::app
