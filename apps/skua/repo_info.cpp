#include <string>

#include <fmt/format.h>

#include "app/database.hpp"
#include "app/repository_info.hpp"
#include "commands.hpp"
#include "history_request.hpp"
#include "repo.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {

int repo_info(const Settings& settings, const RepoInfoFlags& flags) {
  const std::string url = settings.require(kDatabase, flags.database, "postgresql://...").value;
  std::size_t problems = 0;
  const std::vector<std::string> dids =
      dids_of(settings, flags.verification, flags.who, {}, problems);
  if (dids.empty()) return kFailure;
  app::check_database(url);
  store::Session session(url, store::process_name("skua repo info"));
  bool is_first = true;
  for (const std::string& did : dids) {
    const nlohmann::json info = app::read_repository_info(session, did);
    if (info.is_null()) {
      fmt::print(stderr, "skua: {}: nothing is known of this account\n", did);
      ++problems;
      continue;
    }
    if (flags.json) {
      fmt::print("{}\n", info.dump());
    } else {
      fmt::print("{}{}", is_first ? "" : "\n", app::repository_info_text(info));
    }
    is_first = false;
  }
  return problems == 0 ? kSuccess : kFailure;
}

}  // namespace skua::cli
