#include "transport/impl/http_fetch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "transport/address_guard.hpp"
#include "transport/errc.hpp"
#include "transport/impl/redirect.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using SteadyClock = std::chrono::steady_clock;
using TlsSocket = asio::ssl::stream<Socket>;

constexpr std::uint32_t kMaxHeadBytes = 16 * 1024;
/// What is read but not yet understood. Beast itself would hold a chunk's extensions, or what
/// follows the last chunk, however long they are; and of a field of 64 KiB it throws where nobody
/// can catch it.
constexpr std::size_t kMaxUnparsedBytes = 32 * 1024;
/// A name may have thousands of addresses, and whoever owns it says whose.
constexpr std::size_t kMaxAddresses = 8;

/// What a failed read means.
ErrorCode read_error(ErrorCode error) {
  if (error == http::error::body_limit || error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return errc::http_too_large;
  }
  // An end within the message is the connection's fault; all else in this category the content's.
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return errc::http_dropped;
  }
  const auto& of_http = http::make_error_code(http::error::bad_version).category();
  return error.category() == of_http ? errc::http_malformed : errc::http_dropped;
}

bool is_redirect(unsigned status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

HttpAnswer to_answer(http::response<http::string_body>&& message, const Endpoint& url) {
  const auto field = [&message](std::string_view name) {
    const auto value = message[beast::string_view(name.data(), name.size())];
    return std::string(value.data(), value.size());
  };
  HttpAnswer answer;
  answer.status = message.result_int();
  answer.url = url.http_url();
  answer.content_type = field("Content-Type");
  answer.location = field("Location");
  answer.retry_after = field("Retry-After");
  answer.rate_limit = field("RateLimit-Limit");
  answer.rate_limit_remaining = field("RateLimit-Remaining");
  answer.rate_limit_reset = field("RateLimit-Reset");
  answer.body = std::move(message.body());
  return answer;
}

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
  auto origin = request_.origin;
  for (int redirects = 0;; ++redirects) {
    auto answer = co_await ask(*url, origin);
    deadline_.cancel();
    if (!answer) co_return reason(answer.error());
    if (!is_redirect(answer->status) || answer->location.empty()) co_return answer;
    if (redirects == context_.options.max_redirects) co_return errc::http_too_many_redirects;
    auto next = redirect_target(*url, answer->location);
    if (!next) co_return errc::http_bad_redirect;
    if (url->tls && !next->tls) co_return errc::http_downgrade;
    url = std::move(next);
    origin = HostOrigin::network;
  }
}

Awaitable<Result<HttpAnswer>> HttpFetch::ask(const Endpoint& url, HostOrigin origin) {
  connect_end_ = SteadyClock::now() + context_.options.connect_timeout;
  if (connect_end_ < end_) {
    set_deadline(connect_end_, errc::connect_timed_out);
  } else {
    connect_end_ = end_;
    set_deadline(end_, errc::http_timed_out);
  }
  const auto addresses = co_await find_addresses(url, origin);
  if (!addresses) co_return addresses.error();

  if (!url.tls) {
    Socket socket(context_.io.get_executor());
    const auto error = co_await connect(socket, *addresses);
    if (error) co_return error;
    auto answer = co_await exchange(socket, url);
    socket_ = nullptr;
    co_return answer;
  }
  TlsSocket stream(context_.io.get_executor(), context_.tls);
  ErrorCode error = co_await connect(stream.next_layer(), *addresses);
  if (error) co_return error;
  set_server_name(stream.native_handle(), url);
  std::string refusal;
  stream.set_verify_callback(verify_host(url, refusal), error);
  if (error) {
    socket_ = nullptr;
    co_return errc::tls_failed;
  }
  auto token = into(error);
  co_await stream.async_handshake(asio::ssl::stream_base::client, token);
  if (error) {
    socket_ = nullptr;
    co_return errc::tls_failed;
  }
  auto answer = co_await exchange(stream, url);
  socket_ = nullptr;
  co_return answer;
}

Awaitable<Result<std::vector<Tcp::endpoint>>> HttpFetch::find_addresses(const Endpoint& url,
                                                                        HostOrigin origin) {
  const auto found = co_await lookup_.find(context_.options.lookup, url.host);
  if (!found) co_return found.error();
  const bool any = origin == HostOrigin::configured || context_.options.allow_private_hosts;
  std::vector<Tcp::endpoint> addresses;
  for (const auto& address : *found) {
    if (addresses.size() == kMaxAddresses) break;
    if (any || is_public(address)) addresses.emplace_back(address, url.port);
  }
  if (addresses.empty()) co_return errc::address_not_public;
  co_return addresses;
}

Awaitable<ErrorCode> HttpFetch::connect(Socket& socket,
                                        const std::vector<Tcp::endpoint>& addresses) {
  socket_ = &socket;
  for (std::size_t i = 0; i < addresses.size() && !aborted_; ++i) {
    // An address that swallows packets must leave time for those after it.
    const auto now = SteadyClock::now();
    const auto share = (connect_end_ - now) / static_cast<long>(addresses.size() - i);
    if (i + 1 < addresses.size()) {
      step_.expires_at(now + share);
      step_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
        // The expiry tells whether this wait still counts: it may have fired just before the
        // connection.
        if (cancelled || self->step_.expiry() > SteadyClock::now()) return;
        ErrorCode ignored;
        if (self->socket_ != nullptr) self->socket_->close(ignored);
      });
    }
    ErrorCode error;
    socket.close(error);
    auto token = into(error);
    co_await socket.async_connect(addresses[i], token);
    step_.expires_at(TimePoint::max());
    if (!error && !aborted_) {
      ErrorCode ignored;  // costs latency only
      socket.set_option(Tcp::no_delay(true), ignored);
      co_return ErrorCode();
    }
  }
  socket_ = nullptr;
  co_return errc::connect_failed;
}

template <class Stream>
Awaitable<Result<HttpAnswer>> HttpFetch::exchange(Stream& stream, const Endpoint& url) {
  set_deadline(end_, errc::http_timed_out);
  http::request<http::empty_body> request(http::verb::get, url.target(std::nullopt), 11);
  request.set(http::field::host, url.authority());
  request.set(http::field::user_agent, context_.options.user_agent);
  request.set(http::field::accept, "*/*");
  request.set(http::field::connection, "close");
  ErrorCode error;
  auto token = into(error);
  co_await http::async_write(stream, request, token);
  if (error) co_return errc::http_dropped;

  http::response_parser<http::string_body> parser;
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(request_.max_body_bytes);
  beast::flat_buffer buffer(kMaxUnparsedBytes);
  co_await http::async_read(stream, buffer, parser, token);
  if (error) co_return read_error(error);
  auto answer = to_answer(parser.release(), url);
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
  if (socket_ != nullptr) socket_->close(ignored);
}

void HttpFetch::set_deadline(TimePoint at, ErrorCode why) {
  deadline_.expires_at(at);
  deadline_.async_wait([self = shared_from_this(), why](ErrorCode cancelled) {
    if (cancelled || self->deadline_.expiry() > SteadyClock::now()) return;
    self->abort(why);
  });
}

}  // namespace skua::transport::impl
