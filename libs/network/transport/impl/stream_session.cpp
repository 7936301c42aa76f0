#include "transport/impl/stream_session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <fmt/format.h>

#include "transport/address_guard.hpp"
#include "transport/errc.hpp"
#include "transport/http_client.hpp"
#include "transport/impl/failure_text.hpp"
#include "transport/impl/read_ahead.hpp"
#include "transport/impl/refusal.hpp"
#include "transport/impl/tcp_or_tls_stream.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport::impl {

namespace {

namespace asio = boost::asio;

using SteadyClock = std::chrono::steady_clock;

/// The limit exists because a hostile name may have thousands of addresses, which may belong to
/// others.
constexpr std::size_t kMostUntrustedAddresses = 8;

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

class WebsocketSession final : public StreamSession {
 public:
  explicit WebsocketSession(const SessionContext& context)
      : StreamSession(context),
        websocket_(context.io.get_executor()),
        ahead_(websocket_.next_layer().read_ahead(kReadAheadBytes)) {
    buffer_.reserve(kBufferBytes);
    // Sets no limit in Beast, which would end the connection. `read_frame` has its own limit.
    websocket_.read_message_max(0);
    websocket_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::close) expect_end();
      if (kind == websocket::frame_type::pong) pong_came();
    });
    websocket_.set_option(
        websocket::stream_base::decorator([this](websocket::request_type& request) {
          const auto& options = context_.options;
          request.set(beast::http::field::user_agent, options.user_agent);
          if (!options.subprotocol.empty()) {
            request.set(beast::http::field::sec_websocket_protocol, options.subprotocol);
          }
          for (const auto& [name, value] : options.headers) request.set(name, value);
        }));
  }

 private:
  static constexpr std::size_t kBufferBytes = 64 * 1024;
  /// A stream that is behind fills it with each read. Many messages then share the cost of a read.
  static constexpr std::size_t kReadAheadBytes = 256 * 1024;
  /// After this number of messages without Beast, the next message is Beast's in any case. Its
  /// operations let timers and other work of the io_context run.
  static constexpr int kMostInTurn = 256;

  Socket& socket() override { return websocket_.next_layer().socket(); }

  Awaitable<std::optional<std::string>> open_websocket(std::string target) override {
    const auto& endpoint = context_.options.endpoint;
    ErrorCode error;
    auto token = into(error);
    if (endpoint.tls) {
      at_stage("in the TLS handshake");
      auto& tls = websocket_.next_layer().add_tls(*context_.tls);
      set_server_name(tls.native_handle(), endpoint);
      tls.set_verify_callback(verify_host(endpoint, certificate_refusal_), error);
      if (error) co_return tls_failed(endpoint, error);
      co_await websocket_.next_layer().async_handshake(token);
      if (error && !certificate_refusal_.reason.empty()) {
        certificate_refused();
        co_return certificate_refusal_.reason;
      }
      if (error) co_return tls_failed(endpoint, error);
    }
    at_stage("in the websocket upgrade");
    websocket::response_type response;
    const auto host = endpoint.authority();
    co_await websocket_.async_handshake(response, host, target, token);
    if (error == websocket::error::upgrade_declined) {
      auto refusal = read_refusal(response.result_int(), response.body());
      read_headers(response, refusal);
      refused(refusal);
      co_return upgrade_refused(endpoint, target, refusal);
    }
    if (error) co_return upgrade_failed(endpoint, error);
    ahead_.begin_frames();
    websocket_.text(true);
    co_return check_subprotocol(response[beast::http::field::sec_websocket_protocol]);
  }

  void read_headers(const websocket::response_type& response, UpgradeRefusal& refusal) const {
    const auto text = [&](auto name) { return std::string(response[name]); };
    using Field = beast::http::field;
    if (response.result() == beast::http::status::too_many_requests ||
        response.result() == beast::http::status::service_unavailable) {
      HttpAnswer answer;
      answer.retry_after = text(Field::retry_after);
      answer.rate_limit_remaining = text("RateLimit-Remaining");
      answer.rate_limit_reset = text("RateLimit-Reset");
      refusal.asked_wait = asked_wait(answer, context_.options.clock->now());
    }
    if (beast::http::to_status_class(response.result()) == beast::http::status_class::redirection) {
      refusal.location = text(Field::location);
    }
  }

  std::optional<std::string> check_subprotocol(beast::string_view chosen) const {
    const auto& options = context_.options;
    if (chosen.empty() || chosen == options.subprotocol) return std::nullopt;
    return fmt::format("{} speaks another subprotocol than the one asked for ({})",
                       options.endpoint.authority(), options.subprotocol);
  }

  bool take_frame(RawFrame& frame) override {
    if (!websocket_.is_message_done()) return false;
    while (taken_in_turn_ < kMostInTurn) {
      const auto message = ahead_.take_message(context_.options.max_frame_bytes);
      if (!message) return false;
      ++taken_in_turn_;
      // All messages of one read came at the same time.
      if (std::exchange(arrived_with_, ahead_.reads()) != ahead_.reads()) {
        arrived_at_ = context_.options.clock->now();
        message_came();
      }
      if (!is_wanted(message->text)) {
        context_.sink.on_ignored();
        continue;
      }
      frame.bytes.assign(message->content.begin(), message->content.end());
      frame.received_at = arrived_at_;
      frame.text = message->text;
      frame.defect = {};
      return true;
    }
    taken_in_turn_ = 0;
    return false;
  }

  Awaitable<std::optional<std::string>> read_frame(RawFrame& frame) override {
    ErrorCode error;
    auto token = into(error);
    const std::size_t limit = context_.options.max_frame_bytes;
    buffer_.clear();
    // The previous message may be too large. Its rest is read and discarded.
    while (!websocket_.is_message_done()) {
      co_await websocket_.async_read_some(buffer_, kBufferBytes, token);
      if (error) co_return end_text(error);
      buffer_.clear();
    }
    while (true) {
      do {
        co_await websocket_.async_read_some(buffer_, limit + 1 - buffer_.size(), token);
        if (error) co_return end_text(error);
        // The part of an unwanted message is discarded too.
        if (!is_wanted(websocket_.got_text())) buffer_.clear();
      } while (!websocket_.is_message_done() && buffer_.size() <= limit);
      message_came();
      if (is_wanted(websocket_.got_text())) break;
      context_.sink.on_ignored();
    }
    const auto message = buffer_.cdata();
    const auto* data = static_cast<const std::uint8_t*>(message.data());
    frame.bytes.assign(data, data + std::min(message.size(), limit));
    frame.received_at = context_.options.clock->now();
    frame.text = websocket_.got_text();
    frame.defect = message.size() > limit ? make_error_code(errc::message_too_large) : ErrorCode();
    co_return std::nullopt;
  }

  bool is_wanted(bool text) const {
    const auto unwanted = text ? MessageKinds::Binary : MessageKinds::Text;
    return context_.options.messages != unwanted;
  }

  Awaitable<ErrorCode> write_text(const std::string& text) override {
    ErrorCode error;
    auto token = into(error);
    const auto bytes = asio::buffer(text);
    co_await websocket_.async_write(bytes, token);
    co_return error;
  }

  std::string end_text(ErrorCode error) {
    // The reason also exists if the other side sent a close frame and then did not end the
    // connection.
    const bool closed = error == websocket::error::closed || websocket_.reason().code != 0;
    const auto& peer = context_.options.peer;
    return closed ? closed_by(peer, websocket_.reason()) : read_failed(peer, error);
  }

  Awaitable<ErrorCode> ping() override {
    ErrorCode error;
    auto token = into(error);
    const websocket::ping_data nothing;
    co_await websocket_.async_ping(nothing, token);
    co_return error;
  }

  Awaitable<void> close() override {
    ErrorCode ignored;
    auto token = into(ignored);
    const websocket::close_reason reason(websocket::close_code::normal);
    co_await websocket_.async_close(reason, token);
  }

  /// The reason why the certificate was refused. The reason is stored here, because a server may
  /// renegotiate.
  CertificateRefusal certificate_refusal_;
  websocket::stream<TcpOrTlsStream, false> websocket_;  // false: no permessage-deflate
  ReadAhead& ahead_;
  int taken_in_turn_ = 0;
  /// The read from which the last message without Beast came, and the time of its arrival.
  std::uint64_t arrived_with_ = 0;
  Timestamp arrived_at_;
  beast::flat_buffer buffer_;
};

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
  // During a stop the close handshake is still active and ends the connection itself.
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
    std::optional<std::string> failure;
    if (!take_frame(frame)) failure = co_await read_frame(frame);
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

// These functions of StreamSession open its TCP connection.

Awaitable<std::optional<std::string>> StreamSession::connect() {
  const auto& endpoint = context_.options.endpoint;
  std::vector<Tcp::endpoint> addresses;
  auto failure = co_await find_addresses(addresses);
  if (failure) co_return failure;

  at_stage("waiting for an answer to TCP");
  ErrorCode first_error;
  for (std::size_t i = 0; i < addresses.size() && !aborted_; ++i) {
    // Each address gets a share of the time, because an address that drops packets must leave time
    // for the next ones.
    const auto now = std::chrono::steady_clock::now();
    const auto share = (connect_until_ - now) / static_cast<long>(addresses.size() - i);
    const auto error = co_await connect_to(addresses[i], now + share);
    if (!error) {
      ErrorCode ignored;  // an error affects only latency
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
    // The timer may have fired just before the connection was established. Its expiry then belongs
    // to a later wait.
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

std::shared_ptr<StreamSession> make_stream_session(const SessionContext& context) {
  return std::make_shared<WebsocketSession>(context);
}

}  // namespace skua::transport::impl
