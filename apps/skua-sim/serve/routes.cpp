#include "serve/routes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/time.hpp"
#include "serve/control_routes.hpp"
#include "serve/repo_answers.hpp"
#include "world/labeler.hpp"

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

/// Lists the hosts. The cursor is the number of hosts listed so far.
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
  return page_of_repos(request, network, 2000, most, [&](const std::string& did) {
    const auto account = network.account(did);
    if (!account || account->status == AccountStatus::deleted) return Json();
    const auto collections = network.collections(did);
    if (std::ranges::find(collections, *collection) == collections.end()) return Json();
    Json repo = {{"did", did}};
    return repo;
  });
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

/// Returns whether an account has ever named this PDS in the directory.
bool was_hosted(const Network& network, std::string_view did, const std::string& url) {
  const Json::json_pointer endpoint("/operation/services/atproto_pds/endpoint");
  for (const auto& entry : network.plc_audit(did)) {
    if (entry.contains(endpoint) && entry[endpoint] == url) return true;
  }
  return false;
}

/// Returns the state of accounts at a host, including accounts that have moved away.
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

/// Returns the state of accounts that live on this host now.
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

Response not_registered(const std::string& did) {
  return json_response({{"message", "DID not registered: " + did}}, 404);
}

Response document(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  const auto body = network.did_document(did);
  if (body.is_null()) return not_registered(did);
  auto response = json_response(body);
  response.content_type = "application/did+ld+json";
  return response;
}

Response audit_log(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  const auto operations = network.plc_audit(did);
  return operations.empty() ? not_registered(did) : json_response(operations);
}

Response export_operations(const Request& request, const Network& network) {
  const auto count = number_of(request, "count", 10, 1, 1000);
  if (!count) return count.error();
  const auto after = request.query.find("after");
  std::string lines;
  for (const auto& operation : network.plc_export(after == request.query.end() ? "" : after->second,
                                                  static_cast<std::size_t>(*count))) {
    lines += operation.dump();
    lines += '\n';
  }
  return text_response(lines, "application/jsonlines");
}

/// Returns a field that may be absent or null.
Outcome<std::optional<std::string>> text_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return std::optional<std::string>();
  if (!found->is_string()) return bad_request(std::string(name) + " must be a text");
  return std::optional(found->get<std::string>());
}

/// Refuses an invalid label without `broken`, because tests compare the valid labels with the
/// result of an indexer.
std::optional<Response> refuse(const Label& label) {
  constexpr std::size_t kLongestValue = 128;
  if (!atproto::is_uri(label.uri)) return bad_request("uri must be a URI");
  if (label.val.empty() || label.val.size() > kLongestValue) {
    return bad_request("val must have 1 to 128 bytes");
  }
  if (label.cid && !atproto::is_cid_text(*label.cid)) return bad_request("cid must be a CID");
  if (!parse_datetime(label.cts)) return bad_request("cts must be a datetime");
  if (label.exp && !parse_datetime(*label.exp)) return bad_request("exp must be a datetime");
  return std::nullopt;
}

Outcome<Labeler::Wanted> label_of(const Json& body, Timestamp now) {
  if (!body.is_object()) return bad_request("a label must be a JSON object");
  Labeler::Wanted wanted;
  Label& label = wanted.label;
  std::optional<std::string> uri;
  std::optional<std::string> val;
  std::optional<std::string> cts;
  std::optional<std::string> broken;
  for (const auto& [name, target] :
       {std::pair("uri", &uri), std::pair("val", &val), std::pair("cts", &cts),
        std::pair("cid", &label.cid), std::pair("exp", &label.exp), std::pair("broken", &broken)}) {
    auto text = text_of(body, name);
    if (!text) return text.error();
    *target = *std::move(text);
  }
  if (!uri || !val) return bad_request("a label needs uri and val");
  label.uri = *std::move(uri);
  label.val = *std::move(val);
  label.cts = cts ? *std::move(cts) : format_datetime(now);
  if (body.contains("neg")) {
    if (!body["neg"].is_boolean()) return bad_request("neg must be true or false");
    label.neg = body["neg"].get<bool>();
  }
  if (auto refusal = refuse(label)) return *std::move(refusal);
  if (broken) {
    wanted.flaw = parse_label_flaw(*broken);
    if (!wanted.flaw) return bad_request("broken must be one of " + label_flaw_names());
  }
  return wanted;
}

/// Handles one label, or `{"labels": [...]}` for several labels in one frame.
Response say_labels(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const Json given = body->contains("labels") ? (*body)["labels"] : Json::array({*body});
  if (!given.is_array()) return bad_request("labels must be a list");
  std::vector<Labeler::Wanted> wanted;
  for (const auto& one : given) {
    auto label = label_of(one, simulation.real_time());
    if (!label) return label.error();
    wanted.push_back(*std::move(label));
  }
  return json_response({{"seq", simulation.network().labeler()->say(std::move(wanted))}});
}

Response rotate(Simulation& simulation) {
  auto& network = simulation.network();
  network.rotate_label_key(simulation.real_time());
  const auto& labeler = *network.labeler();
  return json_response(
      {{"did", labeler.did()}, {"key", labeler.account().label_key->public_key().to_did_key()}});
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

Router plc_routes(const Network& network) {
  Router router;
  router.get("/_health", [](const Request&) { return json_response({{"version", "skua-sim"}}); });
  router.get("/export",
             [&network](const Request& request) { return export_operations(request, network); });
  router.get("/:did", [&network](const Request& request) { return document(request, network); });
  router.get("/:did/log/audit",
             [&network](const Request& request) { return audit_log(request, network); });
  return router;
}

Router labeler_routes() {
  Router router;
  router.get("/xrpc/_health", [](const Request&) {
    return json_response({{"version", "skua-sim"}});
  });
  return router;
}

void add_labeler_control(Router& router, Simulation& simulation) {
  router.post("/label",
              [&simulation](const Request& request) { return say_labels(request, simulation); });
  router.post("/labeler/rotate", [&simulation](const Request&) { return rotate(simulation); });
  router.get("/labels", [&simulation](const Request&) {
    return json_response(simulation.network().labeler()->state());
  });
}

}  // namespace skua::sim
