#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin/account_actions.sql.hpp"
#include "admin/action.hpp"
#include "backfill/repository/resync_rows.hpp"
#include "store/filter_table.hpp"

namespace skua::admin {
namespace {

using http_server::Response;
using nlohmann::ordered_json;

Response excluded_response(const std::string& did, bool is_excluded, std::size_t changes) {
  const ordered_json body = {{"did", did}, {"excluded", is_excluded}, {"changed", changes > 0}};
  return {.body = body.dump() + "\n"};
}

}  // namespace

Response resync_repository(store::Session& session, const Arguments& arguments) {
  if (!session.query_one<bool>(sql::admin_is_known, arguments.did)) {
    throw Refusal(404, "UnknownAccount",
                  fmt::format("the account {} is not in the database: `skua backfill {}` downloads "
                              "its repository",
                              arguments.did, arguments.did));
  }
  backfill::request_resync(session, std::array{backfill::NewJob{.did = arguments.did}});
  const ordered_json body = {{"did", arguments.did}, {"state", "queued"}};
  return {.body = body.dump() + "\n"};
}

Response exclude_account(store::Session& session, const Arguments& arguments) {
  const std::vector<std::string> dids = {arguments.did};
  return excluded_response(arguments.did, true, store::exclude_accounts(session, dids));
}

Response include_account(store::Session& session, const Arguments& arguments) {
  const std::vector<std::string> dids = {arguments.did};
  return excluded_response(arguments.did, false, store::include_accounts(session, dids));
}

}  // namespace skua::admin
