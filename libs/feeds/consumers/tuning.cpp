#include "consumers/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace skua::consumers {

using std::chrono::milliseconds;

namespace {

/// Makes the value of a member of Tuning.
template <auto kMember>
constexpr TuningValue tuning_value(std::string_view key, std::int64_t least, std::int64_t most,
                                   std::string_view kind = {}) {
  return {.key = key,
          .least = least,
          .most = most,
          .kind = kind,
          .read = [](const Tuning& tuning) -> std::int64_t {
            if constexpr (requires { (tuning.*kMember).count(); }) {
              return (tuning.*kMember).count();
            } else {
              return tuning.*kMember;
            }
          },
          .replace =
              [](Tuning& tuning, std::int64_t number) {
                using Member = std::remove_cvref_t<decltype(tuning.*kMember)>;
                tuning.*kMember = static_cast<Member>(number);
              }};
}

/// Returns the number of an override; nothing if it is not a whole number.
std::optional<std::int64_t> whole_number(const nlohmann::json& value) {
  constexpr std::size_t kMostDigits = 18;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const bool is_whole = !text.empty() && text.size() <= kMostDigits &&
                        text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_whole) return std::nullopt;
  return std::min<std::int64_t>(std::stoll(text), std::numeric_limits<std::int32_t>::max());
}

}  // namespace

const std::vector<TuningValue>& tuning_values() {
  constexpr std::int64_t kHour = 3'600'000;
  constexpr std::int64_t kDay = 24 * kHour;
  static const std::vector<TuningValue> kValues = {
      tuning_value<&Tuning::processors>("processors", 1, 64),
      tuning_value<&Tuning::batch>("batch", 1, 1'000'000),
      tuning_value<&Tuning::pause>("pause_ms", 0, kHour),
      tuning_value<&Tuning::idle>("idle_ms", 1, 60'000),
      tuning_value<&Tuning::lease>("lease_ms", 1'000, kHour, "pull"),
      tuning_value<&Tuning::max_attempts>("max_attempts", 1, 1'000'000),
      tuning_value<&Tuning::retry>("retry_ms", 1, kDay),
      tuning_value<&Tuning::max_retry>("max_retry_ms", 1, kDay),
  };
  return kValues;
}

const std::vector<Tuning>& tuning_profiles() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  constexpr milliseconds kIdle(50);
  constexpr std::int32_t kProcessors = 16;
  constexpr minutes kLease(1);
  static const std::vector<Tuning> kProfiles = {
      {"default", 10'000, milliseconds(400), 10, milliseconds(500), minutes(1), kIdle, kProcessors,
       kLease},
      {"low_latency", 2'000, milliseconds(5), 10, milliseconds(100), seconds(10), milliseconds(5),
       kProcessors, kLease},
      {"high_throughput", 50'000, milliseconds(500), 10, seconds(1), minutes(5), kIdle, kProcessors,
       kLease},
      {"relaxed", 50'000, seconds(5), 20, seconds(5), minutes(15), milliseconds(1'000), kProcessors,
       kLease},
  };
  return kProfiles;
}

Tuning tuning_of(std::string_view profile, const std::string& overrides) {
  const Tuning* const found = find_tuning_profile(profile);
  Tuning tuning = found != nullptr ? *found : tuning_profiles().front();
  const auto object = nlohmann::json::parse(overrides, nullptr, false);
  if (!object.is_object()) return tuning;
  for (const TuningValue& each : tuning_values()) {
    const auto given = object.find(std::string(each.key));
    if (given == object.end()) continue;
    if (const auto number = whole_number(*given)) each.replace(tuning, *number);
  }
  return tuning;
}

std::optional<std::string> unknown_override(std::string_view kind, const std::string& overrides) {
  const auto object = nlohmann::json::parse(overrides);
  for (const auto& [key, value] : object.items()) {
    const auto& values = tuning_values();
    const auto found = std::ranges::find(values, key, &TuningValue::key);
    if (found == values.end() || (!found->kind.empty() && found->kind != kind)) return key;
  }
  return std::nullopt;
}

const Tuning* find_tuning_profile(std::string_view name) {
  const std::vector<Tuning>& all = tuning_profiles();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Tuning& profile) { return profile.profile == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace skua::consumers
