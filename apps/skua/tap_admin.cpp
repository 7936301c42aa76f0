#include "tap_admin.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "transport/basic_authorization.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t kDidsAtOnce = 1'000;

std::string origin_of(transport::Endpoint tap) {
  tap.path = "/";
  tap.query.clear();
  std::string url = tap.http_url();
  url.pop_back();
  return url;
}

transport::HttpClientOptions client_options(std::string ca_file) {
  transport::HttpClientOptions options;
  options.ca_file = std::move(ca_file);
  return options;
}

}  // namespace

TapAdmin::TapAdmin(transport::Endpoint tap, std::string password, std::string ca_file)
    : origin_(origin_of(std::move(tap))),
      password_(std::move(password)),
      client_(client_options(std::move(ca_file))) {}

std::size_t TapAdmin::change(const char* path, std::span<const std::string> dids) {
  for (std::size_t done = 0; done < dids.size();) {
    const auto some = dids.subspan(done, std::min(kDidsAtOnce, dids.size() - done));
    const nlohmann::json body = {{"dids", std::vector<std::string>(some.begin(), some.end())}};
    const auto answer = ask(path, body.dump());
    if (answer.status / 100 != 2) {
      throw std::runtime_error(fmt::format("{}{} answered {} after {} of {}: {}", origin_, path,
                                           answer.status, done, counted(dids.size(), "account"),
                                           answer.body));
    }
    done += some.size();
  }
  return dids.size();
}

std::optional<nlohmann::ordered_json> TapAdmin::info(const std::string& did) {
  const std::string path = "/info/" + did;
  const auto answer = ask(path, std::nullopt);
  if (answer.status == 404) return std::nullopt;
  return read(path, answer);
}

nlohmann::ordered_json TapAdmin::stats() {
  nlohmann::ordered_json all;
  for (const char* name :
       {"repo-count", "record-count", "outbox-buffer", "resync-buffer", "cursors"}) {
    const std::string path = std::string("/stats/") + name;
    all.update(read(path, ask(path, std::nullopt)));
  }
  return all;
}

transport::HttpAnswer TapAdmin::ask(const std::string& path, std::optional<std::string> json) {
  transport::HttpRequest request;
  request.url = origin_ + path;
  request.origin = transport::HostOrigin::configured;
  request.json = std::move(json);
  if (!password_.empty()) {
    request.headers.push_back(
        {"Authorization", transport::basic_authorization("admin", password_)});
  }
  auto answer = client_.send(std::move(request));
  if (!answer) {
    throw std::runtime_error(
        fmt::format("{}: {} (does Tap run there?)", origin_, answer.error().message()));
  }
  if (answer->status == 401) {
    throw std::runtime_error(fmt::format(
        "{} wants its admin password: --tap-password-file names a file with the right one",
        origin_));
  }
  return *std::move(answer);
}

nlohmann::ordered_json TapAdmin::read(const std::string& path,
                                      const transport::HttpAnswer& answer) {
  auto json = nlohmann::ordered_json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !json.is_object()) {
    throw std::runtime_error(fmt::format("{}{} answered {}: {} (is that a Tap?)", origin_, path,
                                         answer.status, answer.body.substr(0, 200)));
  }
  return json;
}

}  // namespace skua::cli
