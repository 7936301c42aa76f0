#include "app/database.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "store/migrations.hpp"
#include "store/process_name.hpp"
#include "store/server_check.hpp"
#include "store/session.hpp"

namespace skua::app {
namespace {

/// What 15 live workers with full groups, 15 backfill workers with a repository each, and the
/// relations they all touch can hold at one time.
constexpr store::ServerNeeds kNeeds{.locks = 15 * 256 + 15 * 16 + 30 * 32, .connections = 33};

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
        fmt::format("the database lacks {} migration{}, from {} on: run `skua migrate` first",
                    pending.size(), pending.size() == 1 ? "" : "s", pending.front().label()));
  }
}

}  // namespace skua::app
