#include "transport/impl/http_fetch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "transport/address_guard.hpp"
#include "transport/errc.hpp"
#include "transport/impl/answer.hpp"
#include "transport/impl/content_decoder.hpp"
#include "transport/impl/refusal.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport::impl {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kMaxHeadBytes = 16 * 1024;
/// The limit for bytes that are read but not parsed. Without a limit Beast would store chunk
/// extensions or trailers of any length. For a field of 64 KiB Beast throws an exception that no
/// caller can catch.
constexpr std::size_t kMaxUnparsedBytes = 32 * 1024;

/// Returns the number of bytes of a body that may arrive. The number is a little more than the
/// allowed size, because compression makes some bodies longer. A limit is necessary because a
/// compressed body may be endless and decompress to nothing.
std::uint64_t max_sent_bytes(std::size_t max_body_bytes) {
  constexpr std::size_t kRoom = 64 * 1024;
  const std::size_t more = max_body_bytes / 16 + kRoom;
  constexpr auto kMost = std::numeric_limits<std::size_t>::max();
  return max_body_bytes > kMost - more ? kMost : max_body_bytes + more;
}

/// Returns the error code for a failed read.
ErrorCode read_error(ErrorCode error) {
  if (error.category() == make_error_code(errc::http_dropped).category()) return error;
  if (error == http::error::body_limit || error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return errc::http_too_large;
  }
  // An end within the message is a failure of the connection. Other errors of this category concern
  // the content.
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return errc::http_dropped;
  }
  const ErrorCode of_http = http::error::bad_version;
  return error.category() == of_http.category() ? errc::http_malformed : errc::http_dropped;
}

/// Returns Content-Length, if it delimits the body.
template <class Parser>
std::optional<std::uint64_t> length_of(const Parser& parser) {
  const auto length = parser.content_length();
  if (!length) return std::nullopt;
  return *length;
}

/// The limit exists because a hostile name may have thousands of addresses, which may belong to
/// others.
constexpr std::size_t kMaxAddresses = 8;

}  // namespace

HttpFetch::HttpFetch(const HttpContext& context, HttpRequest request)
    : context_(context),
      request_(std::move(request)),
      lookup_(context.io, context.inbox),
      deadline_(context.io.get_executor()),
      step_(context.io.get_executor()) {}

Awaitable<Result<HttpAnswer>> HttpFetch::run() {
  const auto self = shared_from_this();
  end_ = SteadyClock::now() + context_.options.total_timeout;
  auto url = parse_http_url(request_.url);
  if (!url) co_return url.error();
  if (!std::all_of(request_.headers.begin(), request_.headers.end(), is_one_line)) {
    co_return errc::http_bad_header;
  }
  auto origin = request_.origin;
  for (int redirects = 0;; ++redirects) {
    auto answer = co_await ask(*url, origin, redirects == 0);
    clear_deadline();
    connection_.reset();
    if (!answer) co_return reason(answer.error());
    if (!is_redirect(answer->status) || !answer->location || request_.json) co_return answer;
    if (redirects == context_.options.max_redirects) co_return errc::http_too_many_redirects;
    auto next = redirect_target(*url, *answer->location);
    if (!next) co_return errc::http_bad_redirect;
    if (url->tls && !next->tls) co_return errc::http_downgrade;
    url = std::move(next);
    origin = HostOrigin::network;
  }
}

Awaitable<Result<HttpAnswer>> HttpFetch::ask(const Endpoint& url, HostOrigin origin,
                                             bool is_first) {
  const bool any_address = origin == HostOrigin::configured || context_.options.allow_private_hosts;
  if (!request_.json) connection_ = context_.pool.take(url, any_address);
  if (connection_) {
    auto answer = co_await exchange(url, is_first);
    // The host closed the idle connection before it answered, so the request can safely be
    // repeated.
    if (answer || heard_ || aborted_) co_return answer;
  }
  const auto error = co_await open(url, any_address);
  if (error) co_return error;
  auto answer = co_await exchange(url, is_first);
  co_return answer;
}

Awaitable<Result<HttpAnswer>> HttpFetch::exchange(const Endpoint& url, bool is_first) {
  heard_ = false;
  set_deadline(end_, errc::http_timed_out);
  auto& stream = connection_->stream;
  http::request<http::string_body> request(request_.json ? http::verb::post : http::verb::get,
                                           url.target(std::nullopt), 11);
  request.set(http::field::host, url.authority());
  request.set(http::field::user_agent, context_.options.user_agent);
  request.set(http::field::accept, "*/*");
  request.set(http::field::accept_encoding, request_.plain ? "identity" : kAcceptedEncodings);
  if (is_first) {
    for (const auto& [name, value] : request_.headers) request.set(name, value);
  }
  if (request_.json) {
    request.set(http::field::content_type, "application/json");
    request.body() = *request_.json;
    request.prepare_payload();
  }
  ErrorCode error;
  auto token = into(error);
  co_await http::async_write(stream, request, token);
  if (error) co_return errc::http_dropped;

  http::response_parser<AnswerBodyOfBeast> parser;
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(max_sent_bytes(request_.max_body_bytes));
  beast::flat_buffer buffer(kMaxUnparsedBytes);
  buffer.reserve(kMaxUnparsedBytes);  // Beast fills all room in the buffer
  const std::size_t head_bytes = co_await http::async_read_header(stream, buffer, parser, token);
  heard_ = parser.got_some();
  count(head_bytes);
  if (error) co_return read_error(error);

  const auto& head = parser.get();
  auto answer = to_answer(head, url);
  AnswerBody body(request_, context_.options.spool_dir);
  error = body.begin(header_text(head, "Content-Encoding"), length_of(parser));
  if (error) co_return error;
  parser.get().body() = &body;
  // A redirect gets no more time, because its body is short and not needed.
  if (request_.min_bytes_per_second && !is_redirect(answer.status)) {
    body_began_ = SteadyClock::now();
    received_before_body_ = received_;
    watch_speed(*request_.min_bytes_per_second);
  }
  parser.eager(true);
  while (!parser.is_done()) {
    const std::size_t bytes = co_await http::async_read_some(stream, buffer, parser, token);
    count(bytes);
    if (error) co_return read_error(error);
  }
  error = body.finish(parser.need_eof());
  if (!error) error = body.give_to(answer);
  if (error) co_return error;
  // Keeps the connection only if no extra bytes followed, because they would be read as the next
  // answer.
  if (parser.keep_alive() && buffer.size() == 0 && !aborted_) {
    context_.pool.put(std::move(connection_));
  }
  co_return answer;
}

void HttpFetch::stop() {
  abort(errc::http_stopped);
}

ErrorCode HttpFetch::reason(ErrorCode otherwise) const {
  return aborted_ ? aborted_ : otherwise;
}

void HttpFetch::abort(ErrorCode why) {
  if (!aborted_) aborted_ = why;
  lookup_.cancel();
  step_.cancel();
  ErrorCode ignored;
  if (connection_) connection_->stream.socket().close(ignored);
}

void HttpFetch::set_deadline(TimePoint at, ErrorCode why) {
  deadline_.expires_at(at);
  deadline_.async_wait([self = shared_from_this(), why](ErrorCode cancelled) {
    if (cancelled || self->deadline_.expiry() > SteadyClock::now()) return;
    self->abort(why);
  });
}

void HttpFetch::clear_deadline() {
  deadline_.expires_at(TimePoint::max());
}

void HttpFetch::watch_speed(std::uint64_t min_bytes_per_second) {
  const auto window = context_.options.speed_window;
  const auto before = received_;
  deadline_.expires_after(window);
  deadline_.async_wait([=, self = shared_from_this()](ErrorCode cancelled) {
    if (cancelled || self->deadline_.expiry() > SteadyClock::now()) return;
    const std::chrono::duration<double> seconds = window;
    const auto wanted = static_cast<double>(min_bytes_per_second) * seconds.count();
    if (static_cast<double>(self->received_ - before) < wanted || self->is_below_average())
      return self->abort(errc::http_too_slow);
    self->watch_speed(min_bytes_per_second);
  });
}

bool HttpFetch::is_below_average() const {
  const std::chrono::duration<double> counted =
      SteadyClock::now() - body_began_ - context_.options.average_after;
  const auto wanted = counted.count() * static_cast<double>(request_.min_average_bytes_per_second);
  return static_cast<double>(received_ - received_before_body_) < wanted;
}

void HttpFetch::count(std::size_t bytes) {
  received_ += bytes;
  if (bytes > 0 && request_.on_bytes) request_.on_bytes(bytes);
}

// These functions of HttpFetch open a connection.

Awaitable<ErrorCode> HttpFetch::open(const Endpoint& url, bool any_address) {
  connect_end_ = std::chrono::steady_clock::now() + context_.options.connect_timeout;
  if (connect_end_ < end_) {
    set_deadline(connect_end_, errc::connect_timed_out);
  } else {
    connect_end_ = end_;
    set_deadline(end_, errc::http_timed_out);
  }
  const auto addresses = co_await find_addresses(url, any_address);
  if (!addresses) co_return addresses.error();

  connection_ = std::make_unique<Connection>(context_.io.get_executor(), url);
  auto error = co_await connect(*addresses);
  if (!error && url.tls) error = co_await start_tls(url);
  co_return error;
}

Awaitable<Result<std::vector<Tcp::endpoint>>> HttpFetch::find_addresses(const Endpoint& url,
                                                                        bool any_address) {
  const auto found = co_await lookup_.find(context_.options.lookup, url.host);
  if (!found) co_return found.error();
  std::vector<Tcp::endpoint> addresses;
  for (const auto& address : *found) {
    if (addresses.size() == kMaxAddresses) break;
    if (any_address || is_public(address)) addresses.emplace_back(address, url.port);
  }
  if (addresses.empty()) co_return errc::address_not_public;
  co_return addresses;
}

Awaitable<ErrorCode> HttpFetch::connect(const std::vector<Tcp::endpoint>& addresses) {
  auto& socket = connection_->stream.socket();
  bool is_refused = !addresses.empty();
  for (std::size_t i = 0; i < addresses.size() && !aborted_; ++i) {
    // Each address gets a share of the time, because an address that drops packets must leave time
    // for the next ones.
    const auto now = std::chrono::steady_clock::now();
    const auto share = (connect_end_ - now) / static_cast<long>(addresses.size() - i);
    if (i + 1 < addresses.size()) {
      step_.expires_at(now + share);
      step_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
        // The timer may have fired just before the connection was established. Its expiry then
        // belongs to a later wait.
        if (cancelled || self->step_.expiry() > std::chrono::steady_clock::now()) return;
        ErrorCode ignored;
        if (self->connection_) self->connection_->stream.socket().close(ignored);
      });
    }
    ErrorCode error;
    socket.close(error);
    auto token = into(error);
    co_await socket.async_connect(addresses[i], token);
    step_.expires_at(TimePoint::max());
    if (!error && !aborted_) {
      ErrorCode ignored;  // an error affects only latency
      socket.set_option(Tcp::no_delay(true), ignored);
      connection_->address = addresses[i].address();
      co_return ErrorCode();
    }
    is_refused = is_refused && error == boost::asio::error::connection_refused;
  }
  co_return is_refused ? errc::connect_refused : errc::connect_failed;
}

Awaitable<ErrorCode> HttpFetch::start_tls(const Endpoint& url) {
  auto& tls = connection_->stream.add_tls(context_.tls);
  set_server_name(tls.native_handle(), url);
  ErrorCode error;
  tls.set_verify_callback(verify_host(url, connection_->refusal), error);
  if (error) co_return errc::tls_failed;
  auto token = into(error);
  co_await connection_->stream.async_handshake(token);
  if (error && connection_->refusal.is_untrusted) co_return errc::tls_untrusted;
  if (error) co_return errc::tls_failed;
  co_return ErrorCode();
}

}  // namespace skua::transport::impl
