#include "serve/site.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/repo_answers.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

void write_log(Site& site, Json line) {
  if (!site.name.empty()) line["server"] = site.name;
  site.log.write(line);
}

void log_fault(Site& site, const Fault& fault, const Request& request) {
  write_log(site,
            {{"event", "fault"}, {"fault", fault_name(fault.kind)}, {"target", request.target}});
}

Response refusal(const Fault& fault) {
  auto response = error_response(429, "RateLimitExceeded", "Rate Limit Exceeded");
  if (fault.kind != FaultKind::rate_limit) return response;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto reset = std::chrono::duration_cast<std::chrono::seconds>(now).count() + fault.number;
  response.headers = {{"RateLimit-Limit", "3000"},
                      {"RateLimit-Remaining", "0"},
                      {"RateLimit-Reset", std::to_string(reset)},
                      {"RateLimit-Policy", "3000;w=300"},
                      {"Retry-After", std::to_string(fault.number)}};
  return response;
}

void damage(Response& response, const Fault& fault, FaultPlan& plan) {
  // A repository without records has only one node. If this node is already removed, there is no
  // block left to damage.
  const auto blocks = count_blocks(response.body);
  switch (fault.kind) {
    case FaultKind::cut_download:
      response.cut_after = response.body.size() / 2;
      break;
    case FaultKind::slow_download:
      response.bytes_per_second = static_cast<std::size_t>(fault.number);
      break;
    case FaultKind::missing_block:
      if (blocks > 0) response.body = without_block(response.body, plan.pick(blocks));
      break;
    case FaultKind::bad_block:
      if (blocks > 0) response.body = with_bad_block(response.body, plan.pick(blocks));
      break;
    default:
      break;
  }
}

}  // namespace

std::optional<Response> unauthorized(const Site& site, const Request& request) {
  if (site.password.empty()) return std::nullopt;
  if (request.authorization == basic_authorization("admin", site.password)) return std::nullopt;
  auto response =
      error_response(401, "Unauthorized", "admin auth required, but missing or incorrect password");
  response.headers = {{"WWW-Authenticate", R"(Basic realm="admin", charset="UTF-8")"}};
  return response;
}

Response answer(Site& site, const Request& request) {
  const bool is_health = request.path.ends_with("/_health") || request.path == "/health";
  const auto now = std::chrono::steady_clock::now();
  Response response;
  const bool asks_status = request.path.ends_with(".getRepoStatus");
  const auto refused = site.faults != nullptr && !is_health
                           ? site.faults->take_for_request(asks_status, now)
                           : std::nullopt;
  if (refused) {
    log_fault(site, *refused, request);
    response = refusal(*refused);
  } else {
    response = site.router.answer(request);
  }
  if (site.faults != nullptr && response.is_download && request.method == "GET") {
    for (const auto& fault : site.faults->take_for_download(now)) {
      log_fault(site, fault, request);
      damage(response, fault, *site.faults);
    }
  }
  log_answer(site, request, response);
  return response;
}

void log_answer(Site& site, const Request& request, const Response& response) {
  write_log(site, {{"event", "request"}, {"target", request.target}, {"status", response.status}});
}

}  // namespace skua::sim
