#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "http_server/exchange.hpp"
#include "http_server/server.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "xrpc/read_queue.hpp"

namespace skua::xrpc {

/// The result of a request, for metrics.
enum class RequestEnd : std::uint8_t {
  /// The answer is 200.
  Answered,
  /// The request is wrong, or there is nothing to show.
  Refused,
  /// The request took too long, or too many requests waited.
  Limited,
  /// The database did not answer.
  Failed,
};
inline constexpr std::size_t kRequestEnds = 4;
const char* name_of_request_end(std::size_t index);

/// Metrics of the requests. Any thread.
struct ReadMetrics {
  CounterFamily<kRequestEnds> requests{"",         "skua_read_requests_total",
                                       "requests", "Requests of /xrpc and /query, by result",
                                       "result",   name_of_request_end};
  Gauge waiting{"", "skua_read_requests_waiting", "requests",
                "Requests of /xrpc and /query that wait for a database session"};
  Histogram wait{"", "skua_read_wait_seconds",
                 "Time of a request of /xrpc or /query before a database session begins with it"};
  Counter records{"", "skua_read_records_total", "records", "Records that /xrpc has answered with"};
  Counter mismatches{"", "skua_read_record_mismatches_total", "records",
                     "Records that /xrpc has answered with although they do not encode to their "
                     "CIDs; `skua verify` names such records"};
};

/// Answers GET requests from the database, on threads with sessions of their own that only read. If
/// the role of the database is a member of skua_reader, the sessions have no other rights. Clients
/// have shares of the sessions (ReadQueue): a client is an IPv4 address or a /64 of IPv6. Owned by
/// one thread.
class ReadRequests {
 public:
  /// Called on a thread of the object, and may block. An SQL error becomes an answer.
  using Answer =
      std::function<http_server::Response(postgres::Session&, const http_server::Request&)>;

  struct Options {
    /// The name of the sessions.
    std::string session_name;
    /// At least two: one client uses all but one.
    std::size_t threads = 3;
    /// The time of a statement. Afterwards the client gets 503.
    std::chrono::milliseconds statement_time{10'000};
    /// A request that has waited longer is not run, because the server answers 503 before the
    /// result is there (http_server::Limits::answer_time).
    std::chrono::milliseconds longest_wait{20'000};
  };

  /// `metrics` must outlive the object.
  ReadRequests(postgres::Runtime& runtime, const Options& options, ReadMetrics& metrics);
  ~ReadRequests() { stop(); }
  ReadRequests(const ReadRequests&) = delete;
  ReadRequests& operator=(const ReadRequests&) = delete;

  /// Adds a path to a server, which must stop before the object ends. Call it before `start`.
  void add_route(http_server::Server::Routes& routes, const std::string& path, Answer answer);

  void start();
  /// Ends the threads after their current requests. Idempotent.
  void stop();

 private:
  struct Asked {
    const Answer* answer;
    std::shared_ptr<http_server::Exchange> exchange;
  };
  using Queue = ReadQueue<Asked>;

  void accept(const Answer& answer, const std::shared_ptr<http_server::Exchange>& exchange);
  std::chrono::milliseconds round(postgres::LazySession& session, const std::stop_token& stop);
  std::optional<Queue::Item> take();
  http_server::Response answer_of(postgres::LazySession& session, const Asked& asked);
  http_server::Response count(RequestEnd end, http_server::Response response);

  const std::chrono::milliseconds longest_wait_;
  ReadMetrics& metrics_;
  std::list<Answer> answers_;
  Guarded<Queue> queue_;
  std::vector<std::unique_ptr<postgres::SessionThread>> threads_;
};

}  // namespace skua::xrpc
