#include "consumers/tuning.hpp"

#include <algorithm>

namespace skua::consumers {

using std::chrono::milliseconds;

const std::vector<Tuning>& tuning_profiles() {
  static const std::vector<Tuning> kProfiles = {
      {"default", 10'000, milliseconds(400), 10, milliseconds(500), milliseconds(60'000)},
      {"low_latency", 2'000, milliseconds(5), 10, milliseconds(100), milliseconds(10'000)},
      {"high_throughput", 50'000, milliseconds(500), 10, milliseconds(1'000),
       milliseconds(300'000)},
      {"relaxed", 50'000, milliseconds(5'000), 20, milliseconds(5'000), milliseconds(900'000)},
  };
  return kProfiles;
}

const Tuning* find_tuning_profile(std::string_view name) {
  const std::vector<Tuning>& all = tuning_profiles();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Tuning& profile) { return profile.profile == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace skua::consumers
