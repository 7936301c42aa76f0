#include "transport/impl/relay_session.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "transport/errc.hpp"
#include "transport/impl/failure_words.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;

using SteadyClock = std::chrono::steady_clock;

}  // namespace

RelaySession::RelaySession(const SessionContext& context)
    : context_(context),
      lookup_(context.io, context.inbox),
      deadline_(context.io.get_executor()),
      step_(context.io.get_executor()),
      pings_(context.io.get_executor()),
      watchdog_(context.io.get_executor()) {}

Awaitable<std::string> RelaySession::run(std::optional<std::int64_t> cursor) {
  const auto self = shared_from_this();
  const auto& options = context_.options;
  connect_until_ = SteadyClock::now() + options.connect_timeout;
  set_deadline(options.connect_timeout);
  auto failure = co_await connect();
  if (!failure) {
    auto target = options.endpoint.target(cursor);
    failure = co_await open_websocket(std::move(target));
  }
  lift_deadline();
  if (failure || aborted_) {
    abort();
    if (timed_out_) {
      co_return fmt::format("no connection to {} within {}: gave up {}",
                            options.endpoint.authority(), in_words(options.connect_timeout),
                            stage_);
    }
    co_return failure.value_or("stopped");
  }

  open_ = true;
  last_message_ = SteadyClock::now();
  context_.policy.connected(last_message_);
  context_.statistics.connections.fetch_add(1, std::memory_order_relaxed);
  context_.statistics.connected = true;
  context_.sink.on_connected(cursor);
  asio::co_spawn(
      context_.io, [self] { return self->send_pings(); }, asio::detached);
  asio::co_spawn(
      context_.io, [self] { return self->watch(); }, asio::detached);

  auto reason = co_await read_frames();
  context_.statistics.connected = false;
  open_ = false;
  end();
  // While stopping, the close handshake is still under way and ends the connection itself.
  if (!stopping_) {
    lift_deadline();
    abort();
  }
  co_return reason;
}

Awaitable<std::optional<std::string>> RelaySession::connect() {
  const auto& endpoint = context_.options.endpoint;
  std::vector<Tcp::endpoint> addresses;
  auto failure = co_await find_addresses(addresses);
  if (failure) co_return failure;

  at_stage("waiting for an answer to TCP");
  ErrorCode first_error;
  for (std::size_t i = 0; i < addresses.size() && !aborted_; ++i) {
    // An address that swallows packets must leave time for those after it.
    const auto now = SteadyClock::now();
    const auto share = (connect_until_ - now) / static_cast<long>(addresses.size() - i);
    const auto error = co_await connect_to(addresses[i], now + share);
    if (!error) {
      ErrorCode ignored;  // costs latency only
      socket().set_option(Tcp::no_delay(true), ignored);
      co_return std::nullopt;
    }
    if (!first_error) first_error = error;
  }
  co_return connect_failed(endpoint, first_error);
}

Awaitable<std::optional<std::string>> RelaySession::find_addresses(
    std::vector<Tcp::endpoint>& addresses) {
  const auto& options = context_.options;
  at_stage("looking up its name");
  const auto found = co_await lookup_.find(options.lookup, options.endpoint.host);
  if (aborted_) co_return "stopped";
  if (!found) co_return lookup_failed(options.endpoint, found.error());
  for (const auto& address : *found) addresses.emplace_back(address, options.endpoint.port);
  co_return std::nullopt;
}

Awaitable<ErrorCode> RelaySession::connect_to(const Tcp::endpoint& address, TimePoint until) {
  ErrorCode error;
  socket().close(error);
  step_.expires_at(until);
  step_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
    // The expiry tells whether this wait still counts: it may have fired just before the
    // connection.
    if (cancelled || self->step_.expiry() > SteadyClock::now()) return;
    ErrorCode ignored;
    self->socket().close(ignored);
  });
  auto token = into(error);
  co_await socket().async_connect(address, token);
  step_.expires_at(TimePoint::max());
  if (error == asio::error::operation_aborted) error = asio::error::timed_out;
  co_return error;
}

Awaitable<std::string> RelaySession::read_frames() {
  const auto& options = context_.options;
  auto& statistics = context_.statistics;
  RawFrame frame;
  while (true) {
    auto failure = co_await read_frame(frame);
    if (silent_) {
      co_return fmt::format("the relay sent nothing for {}", in_words(options.read_timeout));
    }
    if (failure) co_return std::move(*failure);
    const auto size = frame.bytes.size();
    while (!stopping_ && !context_.sink.try_accept(frame)) co_await wait_for_room();
    if (stopping_) co_return "stopped";
    statistics.frames.fetch_add(1, std::memory_order_relaxed);
    statistics.bytes.fetch_add(size, std::memory_order_relaxed);
    if (auto reason = context_.sink.wants_end()) co_return std::move(*reason);
  }
}

Awaitable<void> RelaySession::wait_for_room() {
  context_.statistics.waits_for_room.fetch_add(1, std::memory_order_relaxed);
  holding_ = true;
  has_room_ = false;
  context_.sink.when_room([inbox = context_.inbox, weak = weak_from_this()] {
    inbox->post([weak] {
      const auto session = weak.lock();
      if (!session) return;
      session->has_room_ = true;
      session->step_.cancel();
    });
  });
  while (!has_room_ && !stopping_) {
    ErrorCode ignored;
    auto token = into(ignored);
    step_.expires_at(TimePoint::max());
    co_await step_.async_wait(token);
  }
  holding_ = false;
  last_message_ = SteadyClock::now();
}

Awaitable<void> RelaySession::send_pings() {
  const auto self = shared_from_this();
  while (!ended_) {
    ErrorCode error;
    auto token = into(error);
    pings_.expires_after(context_.options.ping_interval);
    co_await pings_.async_wait(token);
    if (ended_) co_return;
    error = co_await ping();
    if (error) co_return;  // reading finds out as well, and says it better
  }
}

Awaitable<void> RelaySession::watch() {
  const auto self = shared_from_this();
  while (!ended_) {
    const auto now = SteadyClock::now();
    if (holding_) last_message_ = now;
    const auto due = last_message_ + context_.options.read_timeout;
    if (due <= now) {
      silent_ = true;
      abort();
      co_return;
    }
    ErrorCode ignored;
    auto token = into(ignored);
    watchdog_.expires_at(due);
    co_await watchdog_.async_wait(token);
  }
}

Awaitable<void> RelaySession::close_politely() {
  const auto self = shared_from_this();
  co_await close();
  lift_deadline();
  abort();
}

void RelaySession::stop() {
  if (stopping_) return;
  stopping_ = true;
  end();
  if (!open_) {
    abort();
    return;
  }
  step_.cancel();
  set_deadline(context_.options.close_timeout);
  asio::co_spawn(
      context_.io, [self = shared_from_this()] { return self->close_politely(); }, asio::detached);
}

void RelaySession::expect_end() {
  if (!stopping_) set_deadline(context_.options.close_timeout);
}

void RelaySession::message_came() {
  last_message_ = SteadyClock::now();
  context_.policy.received(last_message_);
}

void RelaySession::end() {
  ended_ = true;
  pings_.cancel();
  watchdog_.cancel();
}

void RelaySession::abort() {
  aborted_ = true;
  lookup_.cancel();
  step_.cancel();
  ErrorCode ignored;
  socket().close(ignored);
}

void RelaySession::set_deadline(std::chrono::milliseconds from_now) {
  deadline_.expires_after(from_now);
  deadline_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
    if (cancelled || self->deadline_.expiry() > SteadyClock::now()) return;
    self->timed_out_ = true;
    self->abort();
  });
}

void RelaySession::lift_deadline() {
  deadline_.expires_at(TimePoint::max());
}

}  // namespace skua::transport::impl
