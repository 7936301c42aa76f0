#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "http_server/exchange.hpp"
#include "http_server/server.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

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
  Counter records{"", "skua_read_records_total", "records", "Records that /xrpc has answered with"};
  Counter mismatches{"", "skua_read_record_mismatches_total", "records",
                     "Records that /xrpc has answered with although they do not encode to their "
                     "CIDs; `skua verify` names such records"};
};

/// Answers GET requests from the database, on threads with sessions of their own that only read. If
/// the role of the database is a member of skua_reader, the sessions have no other rights. Owned by
/// one thread.
class ReadRequests {
 public:
  /// Called on a thread of the object, and may block. An SQL error becomes an answer.
  using Answer =
      std::function<http_server::Response(postgres::Session&, const http_server::Request&)>;

  struct Options {
    /// The name of the sessions.
    std::string session_name;
    std::size_t threads = 2;
    /// Further requests are refused (429).
    std::size_t max_waiting = 64;
    /// The time of a statement. Afterwards the client gets 503.
    std::chrono::milliseconds statement_time{10'000};
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
  struct Waiting {
    const Answer* answer;
    std::shared_ptr<http_server::Exchange> exchange;
  };

  void accept(const Answer& answer, const std::shared_ptr<http_server::Exchange>& exchange);
  std::chrono::milliseconds round(postgres::LazySession& session, const std::stop_token& stop);
  http_server::Response answer_of(postgres::LazySession& session, const Waiting& waiting);
  http_server::Response count(RequestEnd end, http_server::Response response);

  const std::size_t max_waiting_;
  ReadMetrics& metrics_;
  std::list<Answer> answers_;
  Guarded<std::deque<Waiting>> waiting_;
  std::vector<std::unique_ptr<postgres::SessionThread>> threads_;
};

}  // namespace skua::xrpc
