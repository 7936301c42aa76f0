#include <string>

#include <fmt/format.h>

#include "account_choice.hpp"
#include "app/database.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "repo.hpp"
#include "status/repository_info.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {

int repo_info(const Settings& settings, const RepoInfoFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  const AccountChoice accounts = account_choice(settings, flags.verification, flags.who, {});
  app::check_database(url);
  std::size_t problems = 0;
  const std::vector<std::string> dids = look_up(accounts, problems);
  if (dids.empty()) return kFailure;
  store::Session session(url, store::process_name("skua repo info"));
  bool is_first = true;
  for (const std::string& did : dids) {
    const nlohmann::json info = status::read_repository_info(session, did);
    if (info.is_null()) {
      command_line::print_stderr("skua: {}: nothing is known of this account\n", did);
      ++problems;
      continue;
    }
    if (flags.json) {
      fmt::print("{}\n", info.dump());
    } else {
      fmt::print("{}{}", is_first ? "" : "\n", status::repository_info_text(info));
    }
    is_first = false;
  }
  return problems == 0 ? kSuccess : kFailure;
}

}  // namespace skua::cli
