#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "http_server/exchange.hpp"
#include "http_server/impl/channel.hpp"
#include "http_server/server.hpp"

namespace skua::http_server {

/// The number of open connections of each address. Of the server's thread.
class AddressCounts {
 public:
  /// `options` must outlive the object.
  explicit AddressCounts(const Server::Options& options) : options_(options) {}

  /// Adds a connection of an address. Returns an answer, and adds nothing, if the address has as
  /// many as it may.
  std::optional<Response> add(const std::string& address);
  void remove(const std::string& address);

 private:
  const Server::Options& options_;
  std::map<std::string, std::size_t> counts_;
};

/// The parts of the server that its connections use.
struct ConnectionHost {
  const Server::Options& options;
  const Server::Routes& routes;
  std::shared_ptr<Posting> posting;
  AddressCounts& by_address;
};

/// One client, from its connection to its end, with one request and its answer or stream. A
/// connection lives on the server's thread and keeps itself alive until it ends.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `host` must outlive the connection. The destructor calls `on_end`.
  Connection(const ConnectionHost& host, Tcp::socket socket, std::string address,
             std::function<void()> on_end);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Answers without reading the request.
  void refuse(Response response);
  /// Ends a stream with the reason `ServerStopped`, and ends any other connection at once.
  void stop();
  /// Ends the connection at once.
  void drop();

 private:
  asio::awaitable<void> serve();
  /// Counts the connection of a proxy for its client. Returns an answer if the client has too many.
  std::optional<Response> count_client(const std::string& client);
  /// Ends the reading of a request that takes too long.
  void end_reading();
  asio::awaitable<void> respond(Response response);
  asio::awaitable<std::optional<Exchange::Answer>> ask_handler(const Server::Handler& handler,
                                                               Request request);
  asio::awaitable<void> stream(std::shared_ptr<MessageSource> source);
  asio::awaitable<void> send_messages(std::shared_ptr<MessageSource> source);
  asio::awaitable<bool> send(const std::vector<Message>& messages);
  asio::awaitable<void> end_stream(const StreamEnd& end);

  void run(std::function<asio::awaitable<void>()> task);
  asio::awaitable<void> wait_until(std::chrono::steady_clock::time_point time);
  /// Ends a wait. Other threads call the function that `wake_function` returns.
  void wake();
  std::function<void()> wake_function();

  const ConnectionHost& host_;
  const Limits& limits_;
  Tcp::socket socket_;
  const std::string address_;
  const std::function<void()> on_end_;
  asio::steady_timer wait_;
  Watchdog watchdog_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<Channel> channel_;
  /// The client behind a proxy for which the connection counts.
  std::optional<std::string> counted_client_;
  /// The reason why the stream must end.
  std::optional<StreamEnd> end_;
  /// Whether the request took too long.
  bool is_late_ = false;
  bool woken_ = false;
  bool gone_ = false;
};

}  // namespace skua::http_server
