#include <cstddef>
#include <memory>

#include "transport/address_guard.hpp"
#include "transport/errc.hpp"
#include "transport/impl/http_fetch.hpp"
#include "transport/impl/tls_client.hpp"

// How an HttpFetch opens a connection.

namespace skua::transport::impl {
namespace {

/// A hostile name may have thousands of addresses, which may belong to others.
constexpr std::size_t kMaxAddresses = 8;

}  // namespace

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
    // An address that drops packets must leave time for the next addresses.
    const auto now = std::chrono::steady_clock::now();
    const auto share = (connect_end_ - now) / static_cast<long>(addresses.size() - i);
    if (i + 1 < addresses.size()) {
      step_.expires_at(now + share);
      step_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
        // The expiry tells whether this wait is still current: it may have fired just before the
        // connection.
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
      ErrorCode ignored;  // affects only latency
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
