#include "transport/impl/stream_session.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "transport/errc.hpp"
#include "transport/impl/failure_text.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;

using SteadyClock = std::chrono::steady_clock;

}  // namespace

StreamSession::StreamSession(const SessionContext& context)
    : context_(context),
      lookup_(context.io, context.inbox),
      deadline_(context.io.get_executor()),
      step_(context.io.get_executor()),
      pings_(context.io.get_executor()),
      watchdog_(context.io.get_executor()),
      outgoing_(context.io.get_executor()) {}

Awaitable<Disconnection> StreamSession::run(std::string target) {
  const auto self = shared_from_this();
  const auto& options = context_.options;
  Disconnection ending;
  connect_until_ = SteadyClock::now() + options.connect_timeout;
  set_deadline(options.connect_timeout);
  auto failure = co_await connect();
  if (!failure) failure = co_await open_websocket(std::move(target));
  lift_deadline();
  if (failure || aborted_) {
    abort();
    ending.reason = timed_out_ ? fmt::format("no connection to {} within {}: gave up {}",
                                             options.endpoint.authority(),
                                             timeout_text(options.connect_timeout), stage_)
                               : failure.value_or("stopped");
    ending.http_status = refusal_.status;
    ending.http_error = refusal_.error;
    if (refusal_.asked_wait) {
      ending.next_attempt_in =
          std::min<std::chrono::milliseconds>(*refusal_.asked_wait, options.longest_asked_wait);
    }
    ending.problem = problem_;
    co_return ending;
  }

  begin();
  ending.reason = co_await read_frames();
  if (silent_) ending.problem = &problem("source-silent");
  context_.statistics.connected = false;
  open_ = false;
  context_.outgoing.close();
  end();
  // While stopping, the close handshake is still active and ends the connection itself.
  if (!stopping_) {
    lift_deadline();
    abort();
  }
  co_return ending;
}

void StreamSession::begin() {
  const auto self = shared_from_this();
  auto& statistics = context_.statistics;
  open_ = true;
  writing_ = true;
  last_message_ = SteadyClock::now();
  context_.policy.connected(last_message_);
  const auto number = statistics.connections.fetch_add(1, std::memory_order_relaxed) + 1;
  statistics.connected = true;
  context_.outgoing.open(number);
  context_.sink.on_connected(number);
  asio::co_spawn(
      context_.io, [self] { return self->send_pings(); }, asio::detached);
  asio::co_spawn(
      context_.io, [self] { return self->watch(); }, asio::detached);
  asio::co_spawn(
      context_.io, [self] { return self->write_texts(); }, asio::detached);
}

Awaitable<std::string> StreamSession::read_frames() {
  const auto& options = context_.options;
  auto& statistics = context_.statistics;
  RawFrame frame;
  while (true) {
    auto failure = co_await read_frame(frame);
    if (silent_) {
      co_return fmt::format("{} sent nothing for {}", options.peer,
                            timeout_text(options.read_timeout));
    }
    if (abandoned_) co_return *abandoned_;
    if (failure) co_return std::move(*failure);
    const auto size = frame.bytes.size();
    while (!stopping_ && !context_.sink.try_accept(frame)) co_await wait_for_room();
    if (stopping_) co_return "stopped";
    statistics.frames.fetch_add(1, std::memory_order_relaxed);
    statistics.bytes.fetch_add(size, std::memory_order_relaxed);
    if (auto reason = context_.sink.wants_end()) co_return std::move(*reason);
  }
}

Awaitable<void> StreamSession::wait_for_room() {
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

Awaitable<void> StreamSession::write_texts() {
  const auto self = shared_from_this();
  ErrorCode error;
  while (!error && !aborted_) {
    const auto texts = context_.outgoing.take();
    if (texts.empty()) {
      if (stopping_) break;
      ErrorCode ignored;
      auto token = into(ignored);
      outgoing_.expires_at(TimePoint::max());
      co_await outgoing_.async_wait(token);
      continue;
    }
    for (std::size_t i = 0; i < texts.size() && !error; ++i) {
      error = co_await write_text(texts[i]);
      if (!error) context_.statistics.sent.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // After an error, reading fails too and gives a better message.
  writing_ = false;
  if (stopping_) co_await close_politely();
}

Awaitable<void> StreamSession::send_pings() {
  const auto self = shared_from_this();
  while (!ended_) {
    ErrorCode error;
    auto token = into(error);
    pings_.expires_after(context_.options.ping_interval);
    co_await pings_.async_wait(token);
    if (ended_) co_return;
    error = co_await ping();
    if (error) co_return;  // reading fails too and gives a better message
  }
}

Awaitable<void> StreamSession::watch() {
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

Awaitable<void> StreamSession::close_politely() {
  const auto self = shared_from_this();
  co_await close();
  lift_deadline();
  abort();
}

void StreamSession::abandon(std::string reason) {
  if (!open_ || stopping_ || abandoned_) return;
  abandoned_ = std::move(reason);
  abort();
}

void StreamSession::stop() {
  if (stopping_) return;
  stopping_ = true;
  end();
  if (!open_) {
    abort();
    return;
  }
  step_.cancel();
  set_deadline(context_.options.close_timeout);
  context_.outgoing.close();
  if (writing_) {
    outgoing_.cancel();  // the writer closes after all messages are sent
    return;
  }
  asio::co_spawn(
      context_.io, [self = shared_from_this()] { return self->close_politely(); }, asio::detached);
}

void StreamSession::expect_end() {
  if (!stopping_) set_deadline(context_.options.close_timeout);
}

void StreamSession::message_came() {
  last_message_ = SteadyClock::now();
  context_.policy.received(last_message_);
}

void StreamSession::pong_came() {
  const auto& options = context_.options;
  if (options.may_be_silent || (options.may_be_silent_now && options.may_be_silent_now())) {
    message_came();
  }
}

void StreamSession::end() {
  ended_ = true;
  pings_.cancel();
  watchdog_.cancel();
}

void StreamSession::abort() {
  aborted_ = true;
  lookup_.cancel();
  step_.cancel();
  outgoing_.cancel();
  ErrorCode ignored;
  socket().close(ignored);
}

void StreamSession::set_deadline(std::chrono::milliseconds from_now) {
  deadline_.expires_after(from_now);
  deadline_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
    if (cancelled || self->deadline_.expiry() > SteadyClock::now()) return;
    self->timed_out_ = true;
    self->abort();
  });
}

void StreamSession::lift_deadline() {
  deadline_.expires_at(TimePoint::max());
}

}  // namespace skua::transport::impl
