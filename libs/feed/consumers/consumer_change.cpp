#include "feed/consumers/consumer_change.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "feed/consumers/consumer_change.sql.hpp"
#include "feed/consumers/tuning.hpp"

namespace skua::feed {
namespace {

bool exists(store::Session& session, const std::string& name) {
  return session.query_one<bool>(sql::consumers_exists, name);
}

}  // namespace

ConsumerChange::ConsumerChange(store::Session& session) : transaction_(session) {
  session.execute(sql::consumers_lock);
}

void check_lanes(std::int16_t lanes) {
  if (lanes < 1 || lanes > 64 || (lanes & (lanes - 1)) != 0) {
    throw ConsumerError("the number of lanes is a power of two up to 64");
  }
}

void check_profile(const std::string& profile) {
  if (find_tuning_profile(profile) != nullptr) return;
  std::vector<std::string_view> names;
  for (const Tuning& tuning : tuning_profiles()) names.push_back(tuning.profile);
  throw ConsumerError(
      fmt::format("there is no profile '{}': choose {}", profile, fmt::join(names, ", ")));
}

void require_consumer(store::Session& session, const std::string& name) {
  if (exists(session, name)) return;
  throw ConsumerError(
      fmt::format("there is no consumer '{}': `skua consumers list` shows all", name));
}

void refuse_consumer(store::Session& session, const std::string& name) {
  if (!exists(session, name)) return;
  throw ConsumerError(fmt::format("the consumer '{}' exists already", name));
}

}  // namespace skua::feed
