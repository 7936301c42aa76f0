#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "app/consumer_parts.hpp"
#include "app/database.hpp"
#include "base/log.hpp"
#include "base/metric.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "database.hpp"
#include "pages/pages.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "run_pages.hpp"
#include "serve_nodes.hpp"
#include "serve_parts.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "streams/feed_server.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

/// Whether a process can serve consumers with leases, and otherwise why not.
struct WriteAccess {
  bool is_standby = false;
  bool has_right = false;

  bool writes() const { return has_right && !is_standby; }
  std::string reason() const {
    return is_standby ? "the server is a read-only standby"
                      : "the role of the database may only read";
  }
};

WriteAccess write_access(const std::string& url) {
  postgres::Session session(url, postgres::process_name("skua serve"));
  const postgres::Rows row = session.run(
      "SELECT pg_is_in_recovery(), has_table_privilege('skua.consumer_lanes', 'UPDATE')");
  return {row.boolean(0, 0), row.boolean(0, 1)};
}

/// The parts that write, besides those of FeedServer: with `--consumers` all parts that keep
/// projections up to date, without it the sequencer of own messages alone.
class WritingParts {
 public:
  WritingParts(postgres::Runtime& runtime, const Invocation& invocation) {
    if (invocation[kServeConsumers]) {
      consumers_.emplace(runtime, invocation[kProjectionThreads]);
    } else {
      messages_.emplace(runtime);
    }
  }

  void start() {
    if (consumers_) consumers_->start();
    if (messages_) messages_->start();
  }
  void stop() {
    if (consumers_) consumers_->stop();
    if (messages_) messages_->stop();
  }
  std::vector<MetricValue> metrics() const {
    return consumers_ ? consumers_->metrics() : values_of(messages_->metrics());
  }

 private:
  std::optional<app::ConsumerParts> consumers_;
  std::optional<consumers::MessageSequencer> messages_;
};

bool is_query_database(const std::string& url) {
  postgres::Session session(url, postgres::process_name("skua serve"));
  return postgres::is_query_database(session);
}

int serve(const Invocation& invocation) {
  StopSignal stop_signal;
  // The reason of a fatal error is printed at the end.
  postgres::Runtime runtime(require_database(invocation), system_clock(),
                            [](const std::string&) {});
  app::check_database_to_read(runtime.database_url);
  if (is_query_database(runtime.database_url)) return serve_nodes(invocation, runtime, stop_signal);
  streams::FeedServer::Options options;
  options.server = serve_options(invocation);
  const bool has_consumers = invocation[kServeConsumers];
  const WriteAccess access = write_access(runtime.database_url);
  options.serves_leased = access.writes();
  if (!options.serves_leased && has_consumers) {
    throw std::runtime_error(
        fmt::format("{}, and --consumers writes: {}, or leave out --consumers", access.reason(),
                    access.is_standby ? "connect to the primary"
                                      : "use a role with the rights of skua_writer"));
  }
  if (has_consumers) {
    app::check_database_to_write(runtime.database_url, durability(invocation));
  }
  if (!options.serves_leased) {
    logger("serve")->info("{}: webhooks and pull consumers are not served", access.reason());
  }
  options.webhooks.request_time = invocation[kWebhookTimeout];
  options.webhooks.ca_file = invocation[kCaFile];

  streams::FeedMetrics metrics;
  ReadParts reads(runtime, invocation);
  WritingParts writing(runtime, invocation);
  const auto runtime_of_admin = admin_runtime(runtime.database_url);
  admin::AdminApi admin(*runtime_of_admin, admin_options(invocation));
  pages::Heartbeat main_loop("main");
  std::atomic<pages::ProcessState::Phase> phase = pages::ProcessState::Phase::Running;
  pages::Pages pages(
      runtime, {.command = has_consumers ? "serve --consumers" : "serve",
                .process =
                    [&phase, writes = options.serves_leased] {
                      pages::ProcessState state;
                      state.phase = phase;
                      state.writes = writes;
                      return state;
                    },
                .metrics =
                    [&] {
                      auto values = values_of(metrics);
                      std::ranges::move(reads.metrics(), std::back_inserter(values));
                      std::ranges::move(writing.metrics(), std::back_inserter(values));
                      std::ranges::move(values_of(admin.metrics()), std::back_inserter(values));
                      return status::labelled(std::move(values));
                    },
                .loops = {&main_loop}});
  pages.add_routes(options.routes);
  reads.add_routes(options.routes);
  const bool writes = options.serves_leased;
  admin.add_routes(options.routes);
  streams::FeedServer server(runtime, std::move(options), metrics);
  warn_of_open_address(invocation);
  warn_of_plain_token(admin, invocation[kListen].address);
  pages.start();
  admin.start();
  reads.start();
  server.start();
  if (writes) writing.start();
  const std::string address = ListenAddress{invocation[kListen].address, server.port()}.text();
  print_progress(
      fmt::format("serving http://{0}/changes and ws://{0}/subscribe; Ctrl-C stops", address));
  // Projections belong to one database. The feeds continue with another one.
  const auto reason_to_stop = [&] {
    return has_consumers ? runtime.reason_to_stop() : runtime.fatal_error();
  };
  do {
    main_loop.beat(std::chrono::steady_clock::now());
  } while (!reason_to_stop() && !stop_signal.wait_for(std::chrono::milliseconds(250)));
  main_loop.rest();
  phase = pages::ProcessState::Phase::Stopping;
  stop_signal.limit_the_end();
  print_progress(fmt::format("stopping: closing {}", counted(server.clients(), "connection")));
  server.stop();
  reads.stop();
  writing.stop();
  admin.stop();
  pages.stop();
  if (const auto what = reason_to_stop()) {
    print_error(*what);
    return kFailure;
  }
  return kSuccess;
}

}  // namespace

CommandSpecs serve_commands() {
  return {{"serve",
           "Serve the changes and the records of the database to other programs",
           {kListen, kHttpHost, kTrustedProxy, kMaxClients, kMaxClientsPerAddress, kReadSessions,
            kWebhookTimeout, kCaFile, kAdminTokenFile, kServeConsumers, kProjectionThreads,
            kDatabase, kAllowUnsafeDatabase},
           serve}};
}

}  // namespace skua::cli
