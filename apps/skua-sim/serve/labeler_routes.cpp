#include "labeler_routes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "atproto/uri.hpp"
#include "base/time.hpp"
#include "control_request.hpp"
#include "world/labeler.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

/// A field that may be absent or null.
Outcome<std::optional<std::string>> text_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return std::optional<std::string>();
  if (!found->is_string()) return bad_request(std::string(name) + " must be a text");
  return std::optional(found->get<std::string>());
}

/// Refuses an invalid label without `broken`, because tests compare the valid ones with the result
/// of an indexer.
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

/// One label, or `{"labels": [...]}` for several in one frame.
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
