#include "pds_routes.hpp"

#include <optional>
#include <utility>

#include "repo_answers.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

/// Whether an account has ever named this PDS in the directory.
bool was_hosted(const Network& network, std::string_view did, const std::string& url) {
  const Json::json_pointer endpoint("/operation/services/atproto_pds/endpoint");
  for (const auto& entry : network.plc_audit(did)) {
    if (entry.contains(endpoint) && entry[endpoint] == url) return true;
  }
  return false;
}

/// Includes accounts that have moved away.
StandingOf standing_at(const Network& network, std::size_t host, const std::string& url) {
  return [&network, host, url](std::string_view did) -> std::optional<Standing> {
    auto account = network.account(did);
    if (!account || account->status == AccountStatus::deleted) return std::nullopt;
    if (account->host != host) {
      if (!was_hosted(network, did, url)) return std::nullopt;
      return Standing{*std::move(account), AccountStatus::deactivated};
    }
    const auto status = account->status;
    return Standing{*std::move(account), status};
  };
}

/// Only accounts that live on this host.
StandingOf resident_at(const Network& network, std::size_t host) {
  return [&network, host](std::string_view did) -> std::optional<Standing> {
    auto account = network.account(did);
    if (!account || account->host != host) return std::nullopt;
    const auto status = account->status;
    if (status == AccountStatus::deleted) return std::nullopt;
    return Standing{*std::move(account), status};
  };
}

Response get_repo(const Request& request, const Network& network, const StandingOf& standing_of) {
  const auto did = required(request, "did");
  if (!did) return did.error();
  const auto standing = standing_of(*did);
  if (!standing) return repo_not_found(*did);
  if (standing->status != AccountStatus::active) return repo_error(*did, standing->status);
  const auto since = request.query.find("since");
  auto car = network.repository(*did, since == request.query.end() ? "" : since->second);
  if (!car) return repo_not_found(*did);
  Response response;
  response.content_type = "application/vnd.ipld.car";
  response.body = *std::move(car);
  response.is_download = true;
  return response;
}

Response resolve_handle(const Request& request, const Network& network) {
  const auto handle = required(request, "handle");
  if (!handle) return handle.error();
  const auto did = network.resolve_handle(*handle);
  if (!did) return error_response(400, "InvalidRequest", "Unable to resolve handle");
  return json_response({{"did", *did}});
}

Response well_known_did(const Request& request, const Network& network) {
  const auto did = network.resolve_handle(request.host);
  if (did) return text_response(*did);
  auto response = text_response("User not found");
  response.status = 404;
  return response;
}

}  // namespace

Router pds_routes(const Network& network, std::size_t host, const std::string& url,
                  std::int64_t most) {
  const auto standing_of = standing_at(network, host, url);
  const auto resident = resident_at(network, host);
  Router router;
  router.get("/xrpc/_health", [](const Request&) {
    return json_response({{"version", "skua-sim"}});
  });
  router.get("/xrpc/com.atproto.sync.getRepo", [&network, standing_of](const Request& request) {
    return get_repo(request, network, standing_of);
  });
  router.get("/xrpc/com.atproto.sync.listRepos",
             [&network, resident, most](const Request& request) {
               return list_repos(request, network, resident, most);
             });
  router.get("/xrpc/com.atproto.sync.getRepoStatus",
             [standing_of](const Request& request) { return repo_status(request, standing_of); });
  router.get("/xrpc/com.atproto.sync.getLatestCommit",
             [standing_of](const Request& request) { return latest_commit(request, standing_of); });
  router.get("/xrpc/com.atproto.identity.resolveHandle",
             [&network](const Request& request) { return resolve_handle(request, network); });
  router.get("/.well-known/atproto-did",
             [&network](const Request& request) { return well_known_did(request, network); });
  return router;
}

}  // namespace skua::sim
