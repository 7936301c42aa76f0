#include "tap_routes.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "atproto/syntax.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

Response problem(unsigned status, const std::string& message) {
  return json_response({{"message", message}}, status);
}

Outcome<std::vector<std::string>> dids_of(const Request& request) {
  const auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("dids") || !body["dids"].is_array()) {
    return problem(400, "the body must be {\"dids\":[...]}");
  }
  std::vector<std::string> dids;
  for (const auto& did : body["dids"]) {
    if (!did.is_string()) return problem(400, "a DID is a string");
    dids.push_back(did.get<std::string>());
  }
  return dids;
}

Response nothing() {
  return text_response("");
}

Response info(const Request& request, const TapTracker& tracker) {
  const auto& did = request.segments.at("did");
  const auto* const repo = tracker.repo(did);
  if (repo == nullptr) return problem(404, "repo not found");
  return json_response({{"did", did},
                        {"handle", repo->handle},
                        {"state", state_name(repo->state)},
                        {"rev", repo->rev},
                        {"error", repo->error},
                        {"retries", repo->retries},
                        {"records", repo->records.size()}});
}

Response resolve(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  if (!did.starts_with("did:")) return problem(400, "improperly formatted DID");
  const auto document = network.did_document(did);
  return document.is_null() ? problem(404, "DID not found") : json_response(document);
}

Response count(const char* name, std::size_t number) {
  return json_response({{name, number}});
}

Response resync(const Request& request, TapHost& tap) {
  const auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("did")) {
    tap.tracker().resync_lost();
    return json_response(tap.metrics());
  }
  const bool all = body.value("all", true);
  if (!body["did"].is_string() || !tap.tracker().resync(body["did"].get<std::string>(), all)) {
    return error_response(404, "NotFound", "Tap does not track this DID");
  }
  return json_response(tap.metrics());
}

Response stalled(const Request& request, const TapOutbox& outbox) {
  const auto milliseconds = number_of(request, "ms", 0, 0, 86'400'000);
  if (!milliseconds) return milliseconds.error();
  const std::chrono::milliseconds at_least(*milliseconds);
  Json accounts = Json::array();
  for (const auto& stall : outbox.stalls(at_least, TapHost::Clock::now())) {
    accounts.push_back({{"did", stall.did},
                        {"id", stall.id},
                        {"live", stall.live},
                        {"deliveries", stall.deliveries},
                        {"ms", stall.since.count()},
                        {"waiting", stall.waiting}});
  }
  return json_response({{"accounts", accounts}});
}

}  // namespace

Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay) {
  auto& tracker = tap.tracker();
  Router router;
  router.get("/health", [](const Request&) { return json_response({{"status", "ok"}}); });
  router.post("/repos/add", [&tracker](const Request& request) {
    const auto dids = dids_of(request);
    if (!dids) return dids.error();
    for (const auto& did : *dids) tracker.track(did);
    return nothing();
  });
  router.post("/repos/remove", [&tracker](const Request& request) {
    const auto dids = dids_of(request);
    if (!dids) return dids.error();
    for (const auto& did : *dids) tracker.untrack(did);
    return nothing();
  });
  router.get("/resolve/:did",
             [&network](const Request& request) { return resolve(request, network); });
  router.get("/info/:did", [&tracker](const Request& request) { return info(request, tracker); });
  router.get("/stats/repo-count",
             [&tracker](const Request&) { return count("repo_count", tracker.repos()); });
  router.get("/stats/record-count",
             [&tracker](const Request&) { return count("record_count", tracker.records()); });
  router.get("/stats/outbox-buffer",
             [&tap](const Request&) { return count("outbox_buffer", tap.outbox().unacked()); });
  router.get("/stats/resync-buffer", [](const Request&) { return count("resync_buffer", 0); });
  router.get("/stats/cursors", [&network, &relay](const Request&) {
    const auto& dids = network.dids();
    return json_response({{"firehose", relay.last_seq().value_or(0)},
                          {"list_repos", dids.empty() ? std::string() : dids.back()}});
  });
  return router;
}

void add_tap_control(Router& router, TapHost& tap) {
  router.post("/tap/resync", [&tap](const Request& request) { return resync(request, tap); });
  router.get("/tap/stalled",
             [&tap](const Request& request) { return stalled(request, tap.outbox()); });
}

}  // namespace skua::sim
