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
  /// Names and values in their order; a name can occur several times.
  std::vector<std::pair<std::string, std::string>> query = {};
};

/// Parses `/path?name=value&...`. In the query `+` is a space. Nothing: an escape is
/// malformed, there is a control character, or the target does not begin with `/`.
std::optional<Target> parse_target(std::string_view target);

enum class Method : std::uint8_t { Get, Post };

/// `GET` or `POST`.
std::string_view name_of(Method method);

/// A request. Everything in it comes from the client.
struct Request {
  Method method = Method::Get;
  Target target;
  /// Of a POST request. Its Content-Type is JSON, but the server does not parse it.
  std::string body = {};
  /// Headers; empty if absent.
  std::string accept = {};
  std::string authorization = {};
  std::string last_event_id = {};
  std::string host = {};
  std::string origin = {};
  /// The client's address without its port.
  std::string address = {};
  /// The client asks for a websocket.
  bool is_websocket = false;
};

/// The value of a parameter; nothing: it is absent. Of several the first.
std::optional<std::string> parameter(const Request& request, std::string_view name);

/// All values of a parameter, in their order.
std::vector<std::string> parameters(const Request& request, std::string_view name);

/// The token of an Authorization header with the scheme Bearer (RFC 6750, section 2.1), a part of
/// `authorization`. Nothing: the header is absent or has another scheme.
std::optional<std::string_view> bearer_token(std::string_view authorization);

/// Whether an Accept header permits `text/event-stream`. An absent header permits everything.
bool accepts_event_stream(std::string_view accept);

/// Whether a Content-Type header is `application/json`, with or without parameters.
bool is_json_type(std::string_view content_type);

/// Whether a Host header names an IP address, `localhost` or one of these names, which are in lower
/// case, with or without a port. True for an empty header. A web page whose name was made to
/// resolve to this server's address (DNS rebinding) sends its own name.
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
  /// The header Allow, which a 405 needs; empty: none.
  std::string allow = {};
  /// The header Age (RFC 9111, section 5.1): the time since the content was read, if it is kept for
  /// several requests; nothing: no header.
  std::optional<std::chrono::seconds> age = std::nullopt;
  /// How long a client may use the answer again; zero: it keeps nothing.
  std::chrono::seconds max_age{0};
};

/// `{"error", "message"}`, as the AT Protocol answers (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

/// The body of `error_response`.
std::string error_json(std::string_view error, std::string_view message);

/// A request and the answer to it. The handler keeps it until it knows the answer, which may be on
/// another thread. The first answer counts. Without one until the deadline the client gets 503.
class Exchange {
 public:
  using Answer = std::variant<Response, std::shared_ptr<MessageSource>>;

  /// `answered`: called once, on the thread that answers.
  Exchange(Request request, std::function<void()> answered)
      : request_(std::move(request)), answered_(std::move(answered)) {}

  const Request& request() const { return request_; }

  /// Any thread.
  void answer(Response response) { set(std::move(response)); }
  /// Answers with a stream: a websocket if the client asked for one, otherwise server-sent events.
  /// Any thread.
  void answer(std::shared_ptr<MessageSource> source) { set(std::move(source)); }

  /// For the server: the answer, if there is one.
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
