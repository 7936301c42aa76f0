#include "run_pages.hpp"

#include <chrono>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "addresses.hpp"
#include "base/log.hpp"
#include "base/metric.hpp"
#include "settings.hpp"
#include "status/backfill_metrics.hpp"
#include "transport/http_client.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kAnswerTimeout{2};
constexpr std::size_t kLargestPage = 64 * 1024;

/// The maximum number of connections; monitoring needs only a few.
constexpr std::size_t kConnections = 64;

pages::HealthLimits limits_of(const Invocation& invocation) {
  pages::HealthLimits limits;
  limits.behind = invocation[kBehindAfter];
  limits.quiet = invocation[kQuietAfter];
  return limits;
}

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
  options.connect_timeout = kAnswerTimeout;
  options.total_timeout = kAnswerTimeout;
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

std::unique_ptr<postgres::Runtime> admin_runtime(const std::string& database_url) {
  return std::make_unique<postgres::Runtime>(
      database_url, system_clock(), [](const std::string& what) {
        logger("admin")->error("the admin API ends, the process continues: {}", what);
      });
}

admin::AdminApi::Options admin_options(const Invocation& invocation) {
  admin::AdminApi::Options options;
  options.guard.setting =
      fmt::format("the setting {} ({})", kAdminTokenFile.name, kAdminTokenFile.environment);
  const auto file = invocation[kAdminTokenFile];
  if (!file) return options;
  try {
    options.guard.token = admin::Token::read(file->value);
  } catch (const admin::TokenError& error) {
    throw UsageError(fmt::format("{}: {}", file->origin, error.what()));
  }
  return options;
}

void warn_of_plain_token(const admin::AdminApi& api, const std::string& address) {
  if (!api.is_enabled() || http_server::is_loopback(address)) return;
  logger("admin")->warn(
      "{} is not a loopback address: clients send the admin token without TLS, so a reverse proxy "
      "with TLS must be in front of it",
      address);
}

std::unique_ptr<http_server::Server> serve_pages(const SettingValue& found, bool is_default,
                                                 std::vector<std::string> hosts,
                                                 http_server::Server::Routes routes,
                                                 admin::AdminApi& admin) {
  const ListenAddress address = listen_address(found);
  http_server::Server::Options options;
  options.address = address.address;
  options.port = address.port;
  options.hosts = std::move(hosts);
  options.hosts_setting = kHttpHost.name;
  options.limits.connections = kConnections;
  std::unique_ptr<http_server::Server> server;
  try {
    server = std::make_unique<http_server::Server>(options, std::move(routes));
  } catch (const std::runtime_error& error) {
    if (!is_default) throw;
    logger("http")->warn("no pages (--http): {}", error.what());
    return nullptr;
  }
  if (!http_server::is_loopback(address.address)) {
    logger("http")->warn(
        "{} is not a loopback address: whoever reaches it can read the pages, without TLS and "
        "without a password",
        address.text());
  }
  warn_of_plain_token(admin, address.address);
  admin.start();
  server->start();
  print_progress(
      fmt::format("pages at http://{}/", ListenAddress{address.address, server->port()}.text()));
  return server;
}

RunPages::RunPages(const Invocation& invocation, const std::string& database_url,
                   std::string settings_page)
    : settings_page_(std::move(settings_page)),
      pages_runtime_(database_url, system_clock(),
                     [](const std::string& what) {
                       logger("pages")->error("the pages end, the indexer continues: {}", what);
                     }),
      admin_runtime_(admin_runtime(database_url)),
      pages_(pages_runtime_, {.command = "run",
                              .process = [this] { return process_state(); },
                              .metrics = [this] { return metrics(); },
                              .limits = limits_of(invocation),
                              .loops = {&main_loop_}}),
      admin_(*admin_runtime_, admin_options(invocation)) {
  const auto chosen = invocation[kHttp];
  if (!chosen || chosen->value != "off") {
    server_ = serve_pages(chosen.value_or(SettingValue{kDefaultPages, kHttp.name}), !chosen,
                          invocation[kHttpHost], routes(), admin_);
  }
  pages_.start();
}

RunPages::~RunPages() {
  if (server_) server_->stop();
  admin_.stop();
  pages_.stop();
}

http_server::Server::Routes RunPages::routes() {
  http_server::Server::Routes routes;
  pages_.add_routes(routes);
  admin_.add_routes(routes);
  routes["/settings"] = {http_server::Method::Get,
                         [this](const std::shared_ptr<http_server::Exchange>& exchange) {
                           exchange->answer({.body = settings_page_});
                         }};
  return routes;
}

void RunPages::show(const app::Indexer* indexer) {
  shown_.with([&](Shown& shown) {
    shown = {indexer, indexer == nullptr ? Phase::Starting : Phase::Running};
  });
}

void RunPages::show_end(const app::Indexer* indexer) {
  shown_.with([&](Shown& shown) { shown = {indexer, Phase::Stopping}; });
}

pages::ProcessState RunPages::process_state() const {
  return shown_.with([](const Shown& shown) {
    pages::ProcessState state;
    if (shown.indexer != nullptr) state = shown.indexer->process_state();
    state.phase = shown.phase;
    return state;
  });
}

std::vector<status::LabelledMetric> RunPages::metrics() const {
  std::vector<status::LabelledMetric> all = status::labelled(values_of(admin_.metrics()));
  const auto add = [&](std::vector<status::LabelledMetric> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  shown_.with([&](const Shown& shown) {
    if (shown.indexer == nullptr) return;
    add(status::labelled(shown.indexer->metrics()));
    if (const auto backfill = shown.indexer->backfill()) {
      add(status::labelled(backfill->metrics, backfill->rates));
    }
  });
  return all;
}

}  // namespace skua::cli
