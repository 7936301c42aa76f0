#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/guarded.hpp"
#include "http_server/message_source.hpp"

namespace skua::http_server {

/// The path and the query of a request target, with percent-encoding decoded.
struct Target {
  std::string path;
  /// The names and values in their order. A name can occur several times.
  std::vector<std::pair<std::string, std::string>> query = {};
};

/// Parses `/path?name=value&...`. In the query `+` is a space. Returns nothing if an escape is
/// malformed, the target has a control character, or the target does not begin with `/`.
std::optional<Target> parse_target(std::string_view target);

enum class Method : std::uint8_t { Get, Post };

/// Returns `GET` or `POST`.
std::string_view name_of(Method method);

/// A request. All members come from the client.
struct Request {
  Method method = Method::Get;
  Target target;
  /// The body of a POST request. Its Content-Type is JSON, but the server does not parse the body.
  std::string body = {};
  /// Each header is empty if it is absent.
  std::string accept = {};
  std::string authorization = {};
  std::string last_event_id = {};
  std::string host = {};
  std::string origin = {};
  /// The client's address without its port (`client_address`).
  std::string address = {};
  /// Whether the client asks for a websocket.
  bool is_websocket = false;
};

/// Returns the first value of a parameter, or nothing if the parameter is absent.
std::optional<std::string> parameter(const Request& request, std::string_view name);

/// Returns all values of a parameter in their order.
std::vector<std::string> parameters(const Request& request, std::string_view name);

/// Returns the token of an Authorization header with the scheme Bearer (RFC 6750, section 2.1), as
/// a part of `authorization`. Returns nothing if the header is absent or has another scheme.
std::optional<std::string_view> bearer_token(std::string_view authorization);

/// Whether an Accept header permits `text/event-stream`. An absent header permits everything.
bool accepts_event_stream(std::string_view accept);

/// Whether a Content-Type header is `application/json`, with or without parameters.
bool is_json_type(std::string_view content_type);

/// Whether a Host header names an IP address, `localhost` or one of `names`, which are in lower
/// case, with or without a port. True for an empty header. An attacker's web page can make its own
/// name resolve to this server's address (DNS rebinding), but its requests then have that name in
/// the header.
bool is_known_host(std::string_view host, std::span<const std::string> names);

/// Whether the request comes from a web page of another origin than the server: its Origin header
/// names another authority than its Host header.
bool is_cross_origin(const Request& request);

/// A complete answer to a request. A 401 has the header `WWW-Authenticate: Bearer` (RFC 9110,
/// section 15.5.2).
struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  /// The header Allow, which a 405 needs. Empty for other answers.
  std::string allow = {};
  /// The header Age (RFC 9111, section 5.1): the time since the content was read, if the content is
  /// kept for several requests. Without a value the answer has no header.
  std::optional<std::chrono::seconds> age = std::nullopt;
  /// The header Retry-After (RFC 9110, section 10.2.3), for a client that may ask again later.
  std::optional<std::chrono::seconds> retry_after = std::nullopt;
  /// The time for which a client may use the answer again. With zero the client keeps nothing.
  std::chrono::seconds max_age{0};
};

/// Returns an answer with `{"error", "message"}`, as the AT Protocol answers
/// (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

/// Returns the body of `error_response`.
std::string error_json(std::string_view error, std::string_view message);

/// A request and its answer. The handler keeps the exchange until it knows the answer, which may be
/// on another thread. The first answer counts. Without an answer until the deadline the client gets
/// 503.
class Exchange {
 public:
  using Answer = std::variant<Response, std::shared_ptr<MessageSource>>;

  /// `answered` is called once, on the thread that answers.
  Exchange(Request request, std::function<void()> answered)
      : request_(std::move(request)), answered_(std::move(answered)) {}

  const Request& request() const { return request_; }

  /// Answers with a complete response. Any thread.
  void answer(Response response) { set(std::move(response)); }
  /// Answers with a stream: a websocket if the client asked for one, otherwise server-sent events.
  /// Any thread.
  void answer(std::shared_ptr<MessageSource> source) { set(std::move(source)); }

  /// Returns the answer, if there is one. Only the server calls this function.
  std::optional<Answer> take() {
    return answer_.with([](std::optional<Answer>& answer) { return std::move(answer); });
  }

 private:
  void set(Answer answer) {
    const bool first = answer_.with([&](std::optional<Answer>& current) {
      if (current) return false;
      current = std::move(answer);
      return true;
    });
    if (first) answered_();
  }

  const Request request_;
  const std::function<void()> answered_;
  Guarded<std::optional<Answer>> answer_;
};

}  // namespace skua::http_server
