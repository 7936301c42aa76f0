#include "http_server/impl/connection.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/write.hpp>

#include "base/log.hpp"
#include "http_server/impl/request_reader.hpp"

namespace skua::http_server {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The largest number of bytes of one write. `Limits::write_time` limits the time of each write.
constexpr std::size_t kBatchBytes = 64 * 1024;
/// The time for which the rest of a request is read after the answer, so that the client gets the
/// answer and not a reset.
constexpr std::chrono::milliseconds kLinger{1'000};
/// The time between two attempts to cancel a read that takes too long.
constexpr std::chrono::milliseconds kCancelAgain{100};

}  // namespace

std::optional<Response> AddressCounts::add(const std::string& address) {
  std::size_t& count = counts_[counted_address(address)];
  const bool is_exempt = options_.limits.loopback_is_exempt && is_loopback(address);
  if (!is_exempt && count >= options_.limits.connections_per_address) {
    return error_response(429, kTooManyConnections, "this address has too many connections");
  }
  ++count;
  return std::nullopt;
}

void AddressCounts::remove(const std::string& address) {
  const auto found = counts_.find(counted_address(address));
  if (--found->second == 0) counts_.erase(found);
}

Connection::~Connection() {
  if (counted_client_) host_.by_address.remove(*counted_client_);
  on_end_();
}

Connection::Connection(const ConnectionHost& host, Tcp::socket socket, std::string address,
                       std::function<void()> on_end)
    : host_(host),
      limits_(host.options.limits),
      socket_(std::move(socket)),
      address_(std::move(address)),
      on_end_(std::move(on_end)),
      wait_(socket_.get_executor()),
      watchdog_(socket_.get_executor()),
      buffer_(limits_.header_bytes + 1) {}

void Connection::start() {
  run([this] { return serve(); });
}

void Connection::refuse(Response response) {
  run([this, response = std::move(response)] { return respond(response); });
}

void Connection::run(std::function<asio::awaitable<void>()> task) {
  asio::co_spawn(
      wait_.get_executor(),
      [self = shared_from_this(), task = std::move(task)]() -> asio::awaitable<void> {
        co_await task();
      },
      [](const std::exception_ptr& error) {
        if (!error) return;
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& problem) {
          logger("http")->error("a connection ended with an error: {}", problem.what());
        }
      });
}

void Connection::stop() {
  if (!channel_) return drop();
  end_ = StreamEnd{"ServerStopped", "the server stops", 1001};
  wake();
}

void Connection::drop() {
  gone_ = true;
  if (channel_) {
    channel_->drop();
  } else {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }
  wake();
}

void Connection::wake() {
  woken_ = true;
  wait_.cancel();
}

std::function<void()> Connection::wake_function() {
  return [weak = weak_from_this(), posting = host_.posting] {
    posting->post([weak] {
      if (const auto self = weak.lock()) self->wake();
    });
  };
}

asio::awaitable<void> Connection::wait_until(SteadyClock::time_point time) {
  if (woken_ || gone_) co_return;
  boost::system::error_code ignored;
  auto token = error_to(ignored);
  wait_.expires_at(time);
  co_await wait_.async_wait(token);
}

void Connection::end_reading() {
  is_late_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  // A cancel does not end a read that begins after the cancel, so the watchdog repeats it.
  watchdog_.arm(kCancelAgain, [self = shared_from_this()] { self->end_reading(); });
}

asio::awaitable<void> Connection::serve() {
  watchdog_.arm(limits_.request_time, [self = shared_from_this()] { self->end_reading(); });
  auto reading = co_await read_request(socket_, buffer_, address_, host_.options, host_.routes);
  watchdog_.disarm();
  if (gone_) co_return;
  if (reading.is_incomplete) {
    if (!is_late_) co_return;
    reading.refusal = error_response(408, "RequestTimeout", "the request took too long");
  }
  if (!reading.refusal) reading.refusal = count_client(reading.request.address);
  if (reading.refusal) {
    const auto response = *reading.refusal;
    co_await respond(response);
    co_return;
  }
  const bool is_websocket = reading.request.is_websocket;
  auto answer = co_await ask_handler(*reading.handler, std::move(reading.request));
  if (gone_) co_return;
  if (!answer) {
    const auto late = error_response(503, "Unavailable", "the answer took too long");
    co_await respond(late);
  } else if (auto* response = std::get_if<Response>(&*answer)) {
    const auto known = *response;
    co_await respond(known);
  } else {
    auto source = std::get<std::shared_ptr<MessageSource>>(*answer);
    channel_ = is_websocket
                   ? make_websocket(std::move(socket_), std::move(reading.upgrade), limits_)
                   : make_event_stream(std::move(socket_));
    co_await stream(source);
  }
}

std::optional<Response> Connection::count_client(const std::string& client) {
  if (!is_proxy(address_, host_.options.proxies)) return std::nullopt;
  auto refused = host_.by_address.add(client);
  if (!refused) {
    counted_client_ = client;
  } else if (host_.options.on_limit) {
    host_.options.on_limit(kTooManyConnections);
  }
  return refused;
}

asio::awaitable<std::optional<Exchange::Answer>> Connection::ask_handler(
    const Server::Handler& handler, Request request) {
  const auto exchange = std::make_shared<Exchange>(std::move(request), wake_function());
  handler(exchange);
  const auto deadline = SteadyClock::now() + limits_.answer_time;
  auto answer = exchange->take();
  while (!answer && !gone_ && SteadyClock::now() < deadline) {
    co_await wait_until(deadline);
    woken_ = false;
    answer = exchange->take();
  }
  woken_ = false;
  co_return answer;
}

asio::awaitable<void> Connection::respond(Response response) {
  const auto text = response_text(response);
  watchdog_.arm(limits_.write_time, [self = shared_from_this()] { self->drop(); });
  boost::system::error_code error;
  auto token = error_to(error);
  const auto buffer = asio::buffer(text);
  co_await asio::async_write(socket_, buffer, token);
  if (!error) {
    socket_.shutdown(Tcp::socket::shutdown_send, error);
    watchdog_.arm(kLinger, [self = shared_from_this()] { self->drop(); });
    std::array<char, 4096> rest{};
    while (!error) {
      const auto into = asio::buffer(rest);
      auto next = error_to(error);
      co_await socket_.async_read_some(into, next);
    }
  }
  watchdog_.disarm();
}

asio::awaitable<void> Connection::stream(std::shared_ptr<MessageSource> source) {
  source->connect(wake_function());
  watchdog_.arm(limits_.write_time, [self = shared_from_this()] { self->drop(); });
  const bool opened = co_await channel_->open();
  watchdog_.disarm();
  if (!opened || gone_) co_return;
  run([this, source]() -> asio::awaitable<void> {
    const std::function<void(std::string_view)> heard = [this, source](std::string_view text) {
      if (auto end = source->receive(text)) end_ = std::move(end);
      wake();
    };
    co_await channel_->read(heard);
    gone_ = true;
    wake();
  });
  co_await send_messages(source);
  drop();
}

asio::awaitable<void> Connection::send_messages(std::shared_ptr<MessageSource> source) {
  auto heartbeat_at = SteadyClock::now();
  while (!gone_) {
    if (end_) {
      const auto end = *end_;
      co_return co_await end_stream(end);
    }
    woken_ = false;
    auto batch = source->next(kBatchBytes);
    if (!batch.messages.empty()) {
      const bool sent = co_await send(batch.messages);
      if (!sent) co_return;
    }
    if (batch.end && !end_) end_ = std::move(batch.end);
    if (end_) continue;
    if (SteadyClock::now() >= heartbeat_at) {
      heartbeat_at = SteadyClock::now() + limits_.heartbeat;
      std::vector<Message> beat;
      if (auto message = source->heartbeat()) beat.push_back(*std::move(message));
      const bool sent = co_await send(beat);
      if (!sent) co_return;
    }
    if (batch.messages.empty()) co_await wait_until(heartbeat_at);
  }
}

asio::awaitable<bool> Connection::send(const std::vector<Message>& messages) {
  watchdog_.arm(limits_.write_time, [self = shared_from_this()] {
    if (self->host_.options.on_limit) self->host_.options.on_limit(kConsumerTooSlow);
    self->end_ = StreamEnd{kConsumerTooSlow, "the client takes the changes too slowly"};
    self->watchdog_.arm(self->limits_.grace_time, [self] {
      logger("http")->info("{}: dropped, the client takes nothing", self->address_);
      self->drop();
    });
  });
  const bool sent = co_await channel_->write(messages);
  watchdog_.disarm();
  co_return sent && !gone_;
}

asio::awaitable<void> Connection::end_stream(const StreamEnd& end) {
  logger("http")->info("{}: closed: {}: {}", address_, end.error, end.message);
  watchdog_.arm(limits_.grace_time, [self = shared_from_this()] { self->drop(); });
  co_await channel_->close(end);
  watchdog_.disarm();
}

}  // namespace skua::http_server
