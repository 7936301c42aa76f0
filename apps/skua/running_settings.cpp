#include "running_settings.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "transport/http_client.hpp"

namespace skua::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPatience{2};
constexpr std::size_t kLargestPage = 64 * 1024;

}  // namespace

std::string to_json(const RunningSettings& settings) {
  Json sources = Json::array();
  for (const auto& [kind, url] : settings.sources)
    sources.push_back({{"kind", kind}, {"url", url}});
  const Json page = {
      {"process", settings.process}, {"sources", std::move(sources)},
      {"verify", settings.verify},   {"plc", settings.plc},
      {"ca_file", settings.ca_file}, {"allow_unsafe_database", settings.allow_unsafe_database}};
  return page.dump() + "\n";
}

std::optional<RunningSettings> parse_running_settings(std::string_view json) {
  try {
    const Json page = Json::parse(json);
    RunningSettings settings{.process = page.at("process"),
                             .verify = page.at("verify"),
                             .plc = page.at("plc"),
                             .ca_file = page.at("ca_file"),
                             .allow_unsafe_database = page.at("allow_unsafe_database")};
    for (const Json& source : page.at("sources")) {
      settings.sources.push_back({source.at("kind"), source.at("url")});
    }
    return settings;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

RunningAnswer ask_running_settings(const std::string& origin, const std::string& ca_file) {
  const auto failed = [](std::string why) {
    return RunningAnswer(boost::system::in_place_error, std::move(why));
  };
  transport::HttpClientOptions options;
  options.ca_file = ca_file;
  options.connect_timeout = kPatience;
  options.total_timeout = kPatience;
  options.max_redirects = 0;
  transport::HttpClient client(options);
  transport::HttpRequest request;
  request.url = origin + "/settings";
  request.origin = transport::HostOrigin::configured;
  request.max_body_bytes = kLargestPage;
  const auto answer = client.send(std::move(request));
  if (!answer) return failed(answer.error().message());
  if (answer->status != 200) return failed(fmt::format("HTTP {}", answer->status));
  auto settings = parse_running_settings(answer->body);
  if (!settings) return failed("the answer is not that of skua run");
  return RunningAnswer(boost::system::in_place_value, *std::move(settings));
}

}  // namespace skua::cli
