#include "relay_routes.hpp"

#include <algorithm>
#include <optional>

#include "repo_answers.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

StandingOf standing_in(const Network& network) {
  return [&network](std::string_view did) -> std::optional<Standing> {
    auto account = network.account(did);
    if (!account) return std::nullopt;
    const auto status = account->status;
    return Standing{*std::move(account), status};
  };
}

/// The cursor is the number of hosts listed so far.
Response list_hosts(const Request& request, const Network& network,
                    const std::vector<KnownHost>& hosts, std::int64_t most) {
  const auto limit = number_of(request, "limit", 200, 1, 1000);
  if (!limit) return limit.error();
  const auto last = static_cast<std::int64_t>(hosts.size());
  const auto first = number_of(request, "cursor", 0, 0, last);
  if (!first) return first.error();
  std::vector<std::size_t> accounts(hosts.size());
  for (const auto& did : network.dids()) {
    const auto account = network.account(did);
    if (account && account->status != AccountStatus::deleted) ++accounts[account->host];
  }
  const auto end = std::min(last, *first + std::min(*limit, most));
  Json body = Json::object();
  if (end < last) body["cursor"] = std::to_string(end);
  body["hosts"] = Json::array();
  for (auto i = static_cast<std::size_t>(*first); i < static_cast<std::size_t>(end); ++i) {
    body["hosts"].push_back({{"hostname", hosts[i].hostname},
                             {"seq", hosts[i].log.last_seq().value_or(0)},
                             {"accountCount", accounts[i]},
                             {"status", "active"}});
  }
  return json_response(body);
}

Response list_repos_by_collection(const Request& request, const Network& network,
                                  std::int64_t most) {
  const auto collection = required(request, "collection");
  if (!collection) return collection.error();
  const auto limit = number_of(request, "limit", 500, 1, 2000);
  if (!limit) return limit.error();
  const auto given = request.query.find("cursor");
  const auto& dids = network.dids();
  auto did =
      given == request.query.end() ? dids.begin() : std::ranges::upper_bound(dids, given->second);
  Json body = Json::object();
  Json repos = Json::array();
  for (; did != dids.end(); ++did) {
    const auto account = network.account(*did);
    if (!account || account->status == AccountStatus::deleted) continue;
    const auto collections = network.collections(*did);
    if (std::ranges::find(collections, *collection) == collections.end()) continue;
    if (repos.size() == static_cast<std::size_t>(std::min(*limit, most))) {
      body["cursor"] = repos.back()["did"];
      break;
    }
    repos.push_back({{"did", *did}});
  }
  body["repos"] = std::move(repos);
  return json_response(body);
}

Response redirect_to_host(const Request& request, const Network& network,
                          const std::vector<KnownHost>& hosts) {
  const auto did = required(request, "did");
  if (!did) return did.error();
  const auto account = network.account(*did);
  if (!account || account->head.empty()) return repo_not_found(*did);
  if (account->status == AccountStatus::deleted) return repo_not_found(*did);
  auto response = text_response("");
  response.status = 302;
  response.headers = {{"Location", hosts.at(account->host).url + request.target}};
  return response;
}

}  // namespace

Router relay_routes(const Network& network, const std::vector<KnownHost>& hosts,
                    std::int64_t most) {
  const auto standing_of = standing_in(network);
  Router router;
  router.get("/xrpc/_health", [](const Request&) {
    return json_response({{"version", "skua-sim"}});
  });
  router.get("/xrpc/com.atproto.sync.listHosts", [&network, &hosts, most](const Request& request) {
    return list_hosts(request, network, hosts, most);
  });
  router.get("/xrpc/com.atproto.sync.listRepos",
             [&network, standing_of, most](const Request& request) {
               return list_repos(request, network, standing_of, most);
             });
  router.get("/xrpc/com.atproto.sync.listReposByCollection",
             [&network, most](const Request& request) {
               return list_repos_by_collection(request, network, most);
             });
  router.get("/xrpc/com.atproto.sync.getRepo", [&network, &hosts](const Request& request) {
    return redirect_to_host(request, network, hosts);
  });
  router.get("/xrpc/com.atproto.sync.getRepoStatus",
             [standing_of](const Request& request) { return repo_status(request, standing_of); });
  router.get("/xrpc/com.atproto.sync.getLatestCommit",
             [standing_of](const Request& request) { return latest_commit(request, standing_of); });
  return router;
}

}  // namespace skua::sim
