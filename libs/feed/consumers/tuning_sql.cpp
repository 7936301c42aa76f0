#include "feed/consumers/tuning_sql.hpp"

#include <chrono>
#include <cstdint>

#include "feed/consumers/tuning.hpp"

namespace skua::feed {

void add_profiles(store::Params& params) {
  store::Array names(store::Array::Type::text);
  store::Array batches(store::Array::Type::int4);
  store::Array pauses(store::Array::Type::int4);
  store::Array attempts(store::Array::Type::int4);
  store::Array retries(store::Array::Type::int4);
  store::Array max_retries(store::Array::Type::int4);
  const auto count_of = [](std::chrono::milliseconds time) {
    return static_cast<std::int32_t>(time.count());
  };
  for (const Tuning& profile : tuning_profiles()) {
    names.text(profile.profile);
    batches.int4(profile.batch);
    pauses.int4(count_of(profile.pause));
    attempts.int4(profile.max_attempts);
    retries.int4(count_of(profile.retry));
    max_retries.int4(count_of(profile.max_retry));
  }
  params.array(names).array(batches).array(pauses).array(attempts).array(retries);
  params.array(max_retries);
}

}  // namespace skua::feed
