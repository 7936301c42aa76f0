#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/error.hpp>

#include "transport/address_guard.hpp"
#include "transport/errc.hpp"
#include "transport/impl/failure_text.hpp"
#include "transport/impl/stream_session.hpp"

// How a StreamSession opens its TCP connection.

namespace skua::transport::impl {
namespace {

/// A hostile name may have thousands of addresses, which may belong to others.
constexpr std::size_t kMostUntrustedAddresses = 8;

}  // namespace

Awaitable<std::optional<std::string>> StreamSession::connect() {
  const auto& endpoint = context_.options.endpoint;
  std::vector<Tcp::endpoint> addresses;
  auto failure = co_await find_addresses(addresses);
  if (failure) co_return failure;

  at_stage("waiting for an answer to TCP");
  ErrorCode first_error;
  for (std::size_t i = 0; i < addresses.size() && !aborted_; ++i) {
    // An address that drops packets must leave time for the next addresses.
    const auto now = std::chrono::steady_clock::now();
    const auto share = (connect_until_ - now) / static_cast<long>(addresses.size() - i);
    const auto error = co_await connect_to(addresses[i], now + share);
    if (!error) {
      ErrorCode ignored;  // affects only latency
      socket().set_option(Tcp::no_delay(true), ignored);
      co_return std::nullopt;
    }
    if (!first_error) first_error = error;
  }
  co_return connect_failed(endpoint, first_error);
}

Awaitable<std::optional<std::string>> StreamSession::find_addresses(
    std::vector<Tcp::endpoint>& addresses) {
  const auto& options = context_.options;
  at_stage("looking up its name");
  const auto found = co_await lookup_.find(options.lookup, options.endpoint.host);
  if (aborted_) co_return "stopped";
  if (!found) co_return lookup_failed(options.endpoint, found.error());
  for (const auto& address : *found) {
    if (options.public_addresses_only) {
      if (!is_public(address)) continue;
      if (addresses.size() == kMostUntrustedAddresses) break;
    }
    addresses.emplace_back(address, options.endpoint.port);
  }
  if (addresses.empty()) co_return lookup_failed(options.endpoint, errc::address_not_public);
  co_return std::nullopt;
}

Awaitable<ErrorCode> StreamSession::connect_to(const Tcp::endpoint& address, TimePoint until) {
  ErrorCode error;
  socket().close(error);
  step_.expires_at(until);
  step_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
    // The expiry tells whether this wait is still current: it may have fired just before the
    // connection.
    if (cancelled || self->step_.expiry() > std::chrono::steady_clock::now()) return;
    ErrorCode ignored;
    self->socket().close(ignored);
  });
  auto token = into(error);
  co_await socket().async_connect(address, token);
  step_.expires_at(TimePoint::max());
  if (error == boost::asio::error::operation_aborted) error = boost::asio::error::timed_out;
  co_return error;
}

}  // namespace skua::transport::impl
