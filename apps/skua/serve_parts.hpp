#pragma once

#include <vector>

#include "base/metric.hpp"
#include "http_server/server.hpp"
#include "invocation.hpp"
#include "postgres/runtime.hpp"
#include "xrpc/read_requests.hpp"

namespace skua::cli {

// The parts of `skua serve` that every database has.

/// Returns the options of the server on the command line.
http_server::Server::Options serve_options(const Invocation& invocation);

/// Warns if other machines can reach the server.
void warn_of_open_address(const Invocation& invocation);

/// Answers `/xrpc/` and `/query/`. Records and queries have threads of their own, so that slow
/// queries do not delay records.
class ReadParts {
 public:
  ReadParts(postgres::Runtime& runtime, const Invocation& invocation);

  void add_routes(http_server::Server::Routes& routes);
  void start();
  void stop();
  std::vector<MetricValue> metrics() const { return values_of(metrics_); }

 private:
  xrpc::ReadMetrics metrics_;
  xrpc::ReadRequests records_;
  xrpc::ReadRequests queries_;
};

}  // namespace skua::cli
