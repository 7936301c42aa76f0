#include "consumers_session.hpp"

#include <cstdint>
#include <map>

#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "database_choice.hpp"
#include "store/process_name.hpp"

namespace skua::cli {

store::Session consumers_session(const Settings& settings, const ConsumersFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  return {url, store::process_name("skua consumers")};
}

std::string tuning_overrides(const std::vector<std::string>& overrides) {
  static const std::map<std::string, std::int64_t> kMost = {{"batch", 1'000'000},
                                                            {"pause_ms", 3'600'000},
                                                            {"max_attempts", 1'000'000},
                                                            {"retry_ms", 86'400'000},
                                                            {"max_retry_ms", 86'400'000}};
  nlohmann::json object = nlohmann::json::object();
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    const auto most = kMost.find(text.substr(0, equals));
    if (equals == std::string::npos || most == kMost.end()) {
      throw UsageError(fmt::format(
          "--set {}: give KEY=NUMBER with batch, pause_ms, max_attempts, retry_ms or max_retry_ms",
          text));
    }
    const std::int64_t least = most->first == "pause_ms" ? 0 : 1;
    object[most->first] =
        whole_number({text.substr(equals + 1), "--set " + most->first}, least, most->second);
  }
  return object.dump();
}

}  // namespace skua::cli
