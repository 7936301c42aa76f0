#include "http_server/server.hpp"

#include <atomic>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "http_server/impl/connection.hpp"

namespace skua::http_server {
namespace {

/// The largest number of connections over the limits that get an answer at the same time. Further
/// connections are closed at once.
constexpr std::size_t kRefusals = 64;
constexpr std::chrono::milliseconds kStopTime{1'000};
/// A connection is dead if the client's machine has not acknowledged data for this time.
constexpr int kUnacknowledgedMs = 30'000;

}  // namespace

class Server::Impl {
 public:
  Impl(Options options, Routes routes);
  ~Impl() { stop(); }

  void start();
  void stop();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const { return open_; }

 private:
  asio::awaitable<void> accept();
  void admit(Tcp::socket socket);
  /// Returns the answer for a client that is not admitted.
  std::optional<Response> refusal(const std::string& address);
  void end_connections();

  const Options options_;
  const Routes routes_;
  std::atomic<std::size_t> open_{0};
  std::size_t refused_ = 0;
  AddressCounts by_address_{options_};
  std::set<std::weak_ptr<Connection>, std::owner_less<>> connections_;
  bool stopping_ = false;
  /// Whether the thread has ended, so that timers must not be used any more.
  bool joined_ = false;

  asio::io_context io_{1};
  std::shared_ptr<Posting> posting_ = std::make_shared<Posting>(io_);
  const ConnectionHost host_{options_, routes_, posting_, by_address_};
  Tcp::acceptor acceptor_{io_};
  asio::steady_timer stop_timer_{io_};
  std::thread thread_;
  bool stopped_ = false;
};

Server::Impl::Impl(Options options, Routes routes)
    : options_(std::move(options)), routes_(std::move(routes)) {
  try {
    const Tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", options_.address,
                                         options_.port, error.code().message()));
  }
}

void Server::Impl::start() {
  asio::co_spawn(
      io_, [this] { return accept(); },
      [](const std::exception_ptr& error) {
        if (error) std::rethrow_exception(error);
      });
  thread_ = std::thread([this] { io_.run(); });
}

void Server::Impl::stop() {
  if (stopped_) return;
  stopped_ = true;
  posting_->post([this] { end_connections(); });
  posting_->close();
  if (thread_.joinable()) thread_.join();
  joined_ = true;
}

void Server::Impl::end_connections() {
  stopping_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  const auto connections = connections_;
  for (const auto& weak : connections) {
    if (const auto connection = weak.lock()) connection->stop();
  }
  if (open_ + refused_ == 0) return;
  stop_timer_.expires_after(kStopTime);
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const auto rest = connections_;
    for (const auto& weak : rest) {
      if (const auto connection = weak.lock()) connection->drop();
    }
  });
}

asio::awaitable<void> Server::Impl::accept() {
  while (!stopping_) {
    boost::system::error_code error;
    Tcp::socket socket(io_);
    auto token = error_to(error);
    co_await acceptor_.async_accept(socket, token);
    if (stopping_) co_return;
    if (!error) {
      admit(std::move(socket));
      continue;
    }
    // The error may be temporary, for example if too many files are open.
    logger("http")->warn("cannot accept a connection: {}", error.message());
    asio::steady_timer pause(io_, std::chrono::milliseconds(50));
    auto next = error_to(error);
    co_await pause.async_wait(next);
  }
}

std::optional<Response> Server::Impl::refusal(const std::string& address) {
  if (open_ >= options_.limits.connections) {
    return error_response(503, kTooManyConnections, "the server has too many connections");
  }
  // The connections of a proxy count for its clients, once their requests are read.
  if (is_proxy(address, options_.proxies)) return std::nullopt;
  return by_address_.add(address);
}

void Server::Impl::admit(Tcp::socket socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return;
  socket.set_option(Tcp::no_delay(true), error);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs,
               sizeof kUnacknowledgedMs);
  const std::string address = endpoint.address().to_string();
  auto refused = refusal(address);
  if (refused && options_.on_limit) options_.on_limit(kTooManyConnections);
  if (refused && refused_ >= kRefusals) return;
  const bool counts = !refused;
  if (counts) {
    ++open_;
  } else {
    ++refused_;
  }
  const auto on_end = [this, address, counts] {
    if (counts) {
      --open_;
      if (!is_proxy(address, options_.proxies)) by_address_.remove(address);
    } else {
      --refused_;
    }
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    if (stopping_ && !joined_ && open_ + refused_ == 0) stop_timer_.cancel();
  };
  const auto connection = std::make_shared<Connection>(host_, std::move(socket), address, on_end);
  connections_.insert(connection);
  if (refused) return connection->refuse(*std::move(refused));
  connection->start();
}

Server::Server(Options options, Routes routes)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(routes))) {}
Server::~Server() = default;
std::uint16_t Server::port() const {
  return impl_->port();
}
void Server::start() {
  impl_->start();
}
void Server::stop() {
  impl_->stop();
}
std::size_t Server::connections() const {
  return impl_->connections();
}

}  // namespace skua::http_server
