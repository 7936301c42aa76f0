#include "serve_parts.hpp"

#include "addresses.hpp"
#include "base/log.hpp"
#include "http_server/client_address.hpp"
#include "query_page.hpp"
#include "settings.hpp"
#include "xrpc/record_methods.hpp"

namespace skua::cli {

http_server::Server::Options serve_options(const Invocation& invocation) {
  const auto listen = invocation[kListen];
  http_server::Server::Options options;
  options.address = listen.address;
  options.port = listen.port;
  options.limits.connections = invocation[kMaxClients];
  options.limits.connections_per_address = invocation[kMaxClientsPerAddress];
  options.hosts = invocation[kHttpHost];
  options.hosts_setting = kHttpHost.name;
  options.proxies = invocation[kTrustedProxy];
  return options;
}

void warn_of_open_address(const Invocation& invocation) {
  const auto listen = invocation[kListen];
  if (http_server::is_loopback(listen.address)) return;
  logger("serve")->warn(
      "{} is not a loopback address: whoever reaches it can read all changes and records, "
      "without TLS and without a password",
      listen.text());
}

ReadParts::ReadParts(postgres::Runtime& runtime, const Invocation& invocation)
    : records_(
          runtime,
          {.session_name = "skua serve records", .threads = std::size_t{invocation[kReadSessions]}},
          metrics_),
      queries_(
          runtime,
          {.session_name = "skua serve query", .threads = std::size_t{invocation[kReadSessions]}},
          metrics_) {}

void ReadParts::add_routes(http_server::Server::Routes& routes) {
  xrpc::add_record_methods(routes, records_, metrics_);
  add_query_routes(routes, queries_);
}

void ReadParts::start() {
  records_.start();
  queries_.start();
}

void ReadParts::stop() {
  records_.stop();
  queries_.stop();
}

}  // namespace skua::cli
