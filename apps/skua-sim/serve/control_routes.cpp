#include "serve/control_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/errc.hpp"
#include "repo/dag_cbor.hpp"
#include "serve/routes.hpp"
#include "serve/tap_host.hpp"
#include "world/labeler.hpp"

namespace skua::sim {

namespace {

using Json = nlohmann::ordered_json;

/// Returns a text of the body; empty if it is missing.
std::string field_of(const Json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Writes a value in the JSON form of the data model (atproto.com/specs/data-model), without bytes.
void write_cbor(const Json& value, repo::CborWriter& writer) {
  if (value.is_string()) {
    writer.string(value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    writer.boolean(value.get<bool>());
  } else if (value.is_number_integer()) {
    writer.integer(value.get<std::int64_t>());
  } else if (value.is_array()) {
    writer.list(value.size());
    for (const Json& item : value) write_cbor(item, writer);
  } else if (value.is_object()) {
    const auto link = value.size() == 1 ? value.find("$link") : value.end();
    const auto cid = link != value.end() && link->is_string()
                         ? atproto::Cid::parse(link->get_ref<const std::string&>())
                         : Result<atproto::Cid>(atproto::errc::bad_cid);
    if (cid) return writer.link(*cid);
    std::vector<std::string_view> keys;
    for (const auto& [key, item] : value.items()) keys.push_back(key);
    std::sort(keys.begin(), keys.end(), repo::cbor_key_less);
    writer.map(keys.size());
    for (const std::string_view key : keys) {
      writer.string(key);
      write_cbor(value[std::string(key)], writer);
    }
  } else {
    writer.null();
  }
}

/// Stores `value`, which has the JSON form, as the record `rkey`.
Response put_record(const Json& body, Simulation& simulation) {
  Bytes block;
  repo::CborWriter writer(block);
  write_cbor(body["value"], writer);
  const std::string did = field_of(body, "did");
  const std::string rkey = field_of(body, "rkey");
  if (!simulation.network().put_record(did, field_of(body, "collection") + "/" + rkey,
                                       std::move(block), simulation.real_time())) {
    return bad_request("there is no such active account");
  }
  return json_response({{"did", did}, {"rkey", rkey}});
}

/// Handles the body `{"did": DID, "count": NUMBER}`.
Response identify(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const std::string did = field_of(*body, "did");
  const int count = body->value("count", 1);
  for (int i = 0; i < count; ++i) {
    if (!simulation.network().identify(did, simulation.real_time())) {
      return bad_request("there is no such account");
    }
  }
  return json_response({{"did", did}});
}

/// Handles the body `{"did": DID, "collection": NSID}`, also with `"delete": true`, or `"rkey":
/// KEY, "value": {...}`.
Response write_record(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  if (body->contains("value")) return put_record(*body, simulation);
  const std::string did = field_of(*body, "did");
  const std::string collection = field_of(*body, "collection");
  Network& network = simulation.network();
  if (body->value("delete", false)) {
    if (!network.delete_record(did, collection, simulation.real_time())) {
      return bad_request("the account has no such record");
    }
    return json_response({{"did", did}});
  }
  const auto rkey = network.create_record(did, collection, simulation.real_time());
  if (!rkey) return bad_request("the account cannot create such a record");
  return json_response({{"did", did}, {"rkey", *rkey}});
}

/// Handles the body `{"did": DID, "url": URL}`.
Response name_labeler(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const std::string did = field_of(*body, "did");
  const std::string url = field_of(*body, "url");
  if (!simulation.network().make_labeler(did, url, simulation.real_time())) {
    return bad_request("there is no such account");
  }
  return json_response({{"did", did}, {"url", url}});
}

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kMostFaults = 100'000;

Outcome<std::int64_t> count_of(const Json& body, std::int64_t highest) {
  if (!body.contains("count")) return std::int64_t{1};
  const auto& count = body["count"];
  if (!count.is_number_integer() || count < 1 || count > highest) {
    return bad_request("count must be a number from 1 to " + std::to_string(highest));
  }
  return count.get<std::int64_t>();
}

/// Converts `{"kind": "stall", "arg": 2.5}` to `stall:2.5`.
Outcome<std::string> fault_text(const Json& body) {
  if (!body.contains("kind") || !body["kind"].is_string()) {
    return bad_request("kind is missing; there are:\n" + describe_faults());
  }
  auto text = body["kind"].get<std::string>();
  if (!body.contains("arg") || body["arg"].is_null()) return text;
  const auto& argument = body["arg"];
  if (!argument.is_string() && !argument.is_number()) {
    return bad_request("arg must be a text or a number");
  }
  text += ':';
  text += argument.is_string() ? argument.get<std::string>() : argument.dump();
  return text;
}

Json to_json(const RequestLoad& load) {
  return {{"requests", load.requests()},
          {"most_at_once", load.most_at_once()},
          {"most_in_a_second", load.most_in_a_second()}};
}

Response show_state(const ControlTargets& targets) {
  auto& simulation = targets.simulation;
  Json connections = Json::array();
  for (const auto* stream : targets.streams) {
    for (const auto& [number, progress] : stream->open) {
      connections.push_back({{"server", stream->sessions.name},
                             {"connection", number},
                             {"cursor", or_null(progress->cursor)},
                             {"frames", progress->sent},
                             {"last_seq", or_null(progress->last_seq)}});
    }
  }
  Json faults = Json::object();
  for (const auto& [kind, count] : targets.plan.done()) {
    if (count > 0) faults[std::string(fault_name(kind))] = count;
  }
  Json state = {{"seq", simulation.relay().last_seq().value_or(0)},
                {"frames", simulation.relay().end()},
                {"events", simulation.events()},
                {"paused", simulation.paused()},
                {"quiet", simulation.quiet()},
                {"rate", {{"wished", simulation.rate()}, {"measured", simulation.measured_rate()}}},
                {"connections", connections},
                {"faults", faults}};
  state["plc"] = to_json(*targets.plc_load);
  state["hosts"] = Json::array();
  for (const auto* load : targets.pds_loads) state["hosts"].push_back(to_json(*load));
  if (targets.tap != nullptr) state["tap"] = targets.tap->metrics();
  if (auto* const labeler = simulation.network().labeler()) {
    state["labeler"] = {{"did", labeler->did()}, {"seq", labeler->log().last_seq().value_or(0)}};
  }
  return json_response(state);
}

/// Carries out or plans a fault. Faults of the stream happen at once, all others at the next frame
/// or request.
Response do_fault(const Request& request, const ControlTargets& targets) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const auto text = fault_text(*body);
  if (!text) return text.error();
  const auto count = count_of(*body, kMostFaults);
  if (!count) return count.error();
  const auto fault = parse_fault(*text);
  if (!fault) return bad_request(fault.error());
  if (fault_scope(fault->kind) != FaultScope::stream) {
    targets.plan.add(*fault, static_cast<std::size_t>(*count));
    return json_response({{"planned", *count}});
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    if (!targets.simulation.inject(*fault)) {
      return error_response(409, "NothingToDamage", "there is nothing to make it from");
    }
    targets.plan.note_done(fault->kind);
  }
  return json_response(
      {{"done", *count}, {"seq", targets.simulation.relay().last_seq().value_or(0)}});
}

/// Takes a stream up or down, or silences it, depending on `state`. Returns an error answer if the
/// state is invalid.
std::optional<Response> steer(const SteeredRelay& relay, const Json& state) {
  if (state == "up") {
    relay.stream.state = StreamState::up;
  } else if (state == "silent") {
    relay.stream.state = StreamState::silent;
  } else if (state == "down") {
    relay.stream.state = StreamState::down;
    relay.server.drop_connections();
  } else {
    return bad_request("state must be up, down or silent");
  }
  return std::nullopt;
}

/// Handles the body `{"relay": 2, "state": "down"}`.
Response steer_relay(const Request& request, const ControlTargets& targets) {
  const auto body = body_of(request);
  if (!body) return body.error();
  if (!body->contains("relay") || !(*body)["relay"].is_number_integer()) {
    return bad_request("relay must be its number, from 1");
  }
  const auto number = (*body)["relay"].get<std::int64_t>();
  if (number < 1 || number > static_cast<std::int64_t>(targets.relays.size())) {
    return bad_request("there is no such relay");
  }
  const auto& relay = targets.relays[static_cast<std::size_t>(number - 1)];
  const Json state = body->contains("state") ? (*body)["state"] : Json();
  if (auto refusal = steer(relay, state)) return *std::move(refusal);
  return json_response({{"relay", number}, {"state", state}});
}

/// Handles the body `{"state": "down"}`.
Response steer_labeler(const Request& request, const SteeredRelay& labeler) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const Json state = body->contains("state") ? (*body)["state"] : Json();
  if (auto refusal = steer(labeler, state)) return *std::move(refusal);
  return json_response({{"state", state}});
}

Response make_steps(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  const auto count = count_of(*body, kMostSteps);
  if (!count) return count.error();
  const auto events = simulation.step(static_cast<std::size_t>(*count));
  return json_response({{"events", events}, {"seq", simulation.relay().last_seq().value_or(0)}});
}

Response cause_incident(const Request& request, Simulation& simulation) {
  const auto body = body_of(request);
  if (!body) return body.error();
  if (!body->contains("kind") || !(*body)["kind"].is_string())
    return bad_request("kind is missing");
  const auto events = simulation.cause((*body)["kind"].get<std::string>());
  if (!events) return bad_request("there is no such incident");
  return json_response({{"events", *events}, {"seq", simulation.relay().last_seq().value_or(0)}});
}

Response write_dump(const Request& request, const Network& network) {
  const auto body = body_of(request);
  if (!body) return body.error();
  if (!body->contains("dir") || !(*body)["dir"].is_string()) {
    return bad_request("dir must be the path of a folder");
  }
  const auto folder = (*body)["dir"].get<std::string>();
  try {
    network.dump(folder);
  } catch (const std::exception& error) {
    return error_response(500, "DumpFailed", error.what());
  }
  return json_response({{"dir", folder}});
}

}  // namespace

Response bad_request(const std::string& message) {
  return error_response(400, "InvalidRequest", message);
}

Outcome<nlohmann::ordered_json> body_of(const Request& request) {
  using Json = nlohmann::ordered_json;
  if (request.body.empty()) return Json::object();
  auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object()) return bad_request("the body must be a JSON object");
  return body;
}

void add_account_control(Router& router, Simulation& simulation) {
  router.post("/record",
              [&simulation](const Request& request) { return write_record(request, simulation); });
  router.post("/identity",
              [&simulation](const Request& request) { return identify(request, simulation); });
  router.post("/labeler-service",
              [&simulation](const Request& request) { return name_labeler(request, simulation); });
}

Router control_routes(const ControlTargets& targets) {
  auto& simulation = targets.simulation;
  Router router;
  router.get("/state", [&targets](const Request&) { return show_state(targets); });
  router.post("/fault", [&targets](const Request& request) { return do_fault(request, targets); });
  router.post("/relay",
              [&targets](const Request& request) { return steer_relay(request, targets); });
  router.post("/pause", [&targets](const Request&) {
    targets.simulation.pause();
    return show_state(targets);
  });
  router.post("/resume", [&targets](const Request&) {
    targets.simulation.resume();
    return show_state(targets);
  });
  router.post("/step",
              [&simulation](const Request& request) { return make_steps(request, simulation); });
  router.post("/incident", [&simulation](const Request& request) {
    return cause_incident(request, simulation);
  });
  router.post("/dump", [&simulation](const Request& request) {
    return write_dump(request, simulation.network());
  });
  add_account_control(router, simulation);
  if (targets.tap != nullptr) add_tap_control(router, *targets.tap);
  if (targets.labeler) {
    router.post("/labeler", [&targets](const Request& request) {
      return steer_labeler(request, *targets.labeler);
    });
    add_labeler_control(router, simulation);
  }
  return router;
}

}  // namespace skua::sim
