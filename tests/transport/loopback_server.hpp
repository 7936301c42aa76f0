#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/bytes.hpp"
#include "transport/throwaway_certificate.hpp"

namespace skua::test {

/// The server's side of one open websocket, as a script uses it. Every call blocks; when the client
/// is gone they do nothing.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send(const Bytes& message) = 0;
  virtual void send_text(const std::string& text) = 0;
  /// The first part of a message whose rest never comes.
  virtual void send_part(const Bytes& part) = 0;
  /// Sends a close frame and waits for the client's.
  virtual void close(std::uint16_t code, const std::string& reason) = 0;
  /// Ends the TCP connection without a word.
  virtual void cut() = 0;
  /// The client's next message; nothing when it ended the connection or the server stops.
  virtual std::optional<std::string> receive() = 0;
  /// Answers pings and drops messages until the client ends the connection or the server stops.
  virtual void wait_for_end() = 0;

  /// Called within `wait_for_end` and `receive` at each ping of the client.
  std::function<void()> on_ping = [] {};
  /// Counts from 0.
  int number = 0;
  std::string target;
  std::string user_agent;
  std::string authorization;
  std::string subprotocols;
};

/// A whole HTTP answer as text, which ends with the connection. `headers` are lines with their
/// ends.
inline std::string http_reply(int status, const std::string& body,
                              const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) +
         " Some Reason\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

/// The same, but another request may follow on the connection.
inline std::string kept_reply(const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 200 Some Reason\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

/// A websocket server on 127.0.0.1 for tests: a thread a connection, each running the script it was
/// given. Stops and joins when destroyed.
class LoopbackServer {
 public:
  using Script = std::function<void(Peer&)>;
  using RawScript = std::function<void(boost::asio::ip::tcp::socket&)>;
  using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;
  using HttpScript = std::function<std::string(const HttpRequest&)>;

  struct Options {
    Script script = [](Peer& peer) { peer.wait_for_end(); };
    /// Instead of the script: has the TCP connection before anything was read.
    RawScript raw;
    /// Instead of the script: gives the bytes that answer an HTTP request, one a connection. On a
    /// thread a connection.
    HttpScript http;
    /// With `http`: a connection is answered on until the client ends it.
    bool keep_alive = false;
    /// The subprotocol that it says it chose; empty: it says nothing.
    std::string subprotocol;
    /// Speaks TLS when set.
    std::optional<transport::ThrowawayCertificate> certificate;
  };

  explicit LoopbackServer(Options options)
      : options_(std::move(options)),
        acceptor_(io_, {boost::asio::ip::make_address_v4("127.0.0.1"), 0}) {
    if (options_.certificate) {
      tls_.use_certificate(boost::asio::buffer(options_.certificate->certificate_pem),
                           boost::asio::ssl::context::pem);
      tls_.use_private_key(boost::asio::buffer(options_.certificate->key_pem),
                           boost::asio::ssl::context::pem);
    }
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { accept(); });
  }

  explicit LoopbackServer(Script script) : LoopbackServer(with_script(std::move(script))) {}

  ~LoopbackServer() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (auto& thread : threads_) thread.join();
  }

  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  /// True while the server is to go on; for scripts that wait for something else than the client.
  bool running() const {
    const std::scoped_lock lock(mutex_);
    return !stopped_;
  }

 private:
  using Tcp = boost::asio::ip::tcp;

  static Options with_script(Script script) {
    Options options;
    options.script = std::move(script);
    return options;
  }

  template <class NextLayer>
  class PeerOver final : public Peer {
   public:
    using Stream = boost::beast::websocket::stream<NextLayer, false>;

    explicit PeerOver(Stream& stream) : stream_(stream) {
      stream_.binary(true);
      stream_.control_callback(
          [this](boost::beast::websocket::frame_type kind, boost::beast::string_view) {
            if (kind == boost::beast::websocket::frame_type::ping) on_ping();
          });
    }

    void send(const Bytes& message) override {
      boost::system::error_code ignored;
      stream_.binary(true);
      stream_.write(boost::asio::buffer(message), ignored);
    }
    void send_text(const std::string& text) override {
      boost::system::error_code ignored;
      stream_.text(true);
      stream_.write(boost::asio::buffer(text), ignored);
    }
    void send_part(const Bytes& part) override {
      boost::system::error_code ignored;
      stream_.binary(true);
      stream_.write_some(false, boost::asio::buffer(part), ignored);
    }
    void close(std::uint16_t code, const std::string& reason) override {
      boost::system::error_code ignored;
      stream_.close({boost::beast::websocket::close_code(code), reason}, ignored);
    }
    void cut() override {
      boost::system::error_code ignored;
      boost::beast::get_lowest_layer(stream_).shutdown(Tcp::socket::shutdown_both, ignored);
    }
    std::optional<std::string> receive() override {
      boost::system::error_code error;
      boost::beast::flat_buffer buffer;
      stream_.read(buffer, error);
      if (error) return std::nullopt;
      return boost::beast::buffers_to_string(buffer.data());
    }
    void wait_for_end() override {
      while (receive()) {
      }
    }

   private:
    Stream& stream_;
  };

  void accept() {
    while (true) {
      boost::system::error_code error;
      Tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (error) return;
      const std::scoped_lock lock(mutex_);
      if (stopped_) return;
      const int number = connections_++;
      open_.push_back(socket.native_handle());
      threads_.emplace_back(
          [this, number, held = std::make_shared<Tcp::socket>(std::move(socket))] {
            serve(number, *held);
          });
    }
  }

  void serve(int number, Tcp::socket& socket) {
    const int handle = socket.native_handle();
    if (options_.raw) {
      options_.raw(socket);
      forget(handle);
    } else if (options_.certificate) {
      using Tls = boost::asio::ssl::stream<Tcp::socket>;
      boost::beast::websocket::stream<Tls, false> stream(std::move(socket), tls_);
      boost::system::error_code error;
      stream.next_layer().handshake(boost::asio::ssl::stream_base::server, error);
      if (!error) run_script<Tls>(number, stream);
      forget(handle);
    } else {
      boost::beast::websocket::stream<Tcp::socket, false> stream(std::move(socket));
      run_script<Tcp::socket>(number, stream);
      forget(handle);
    }
  }

  template <class NextLayer>
  void run_script(int number, boost::beast::websocket::stream<NextLayer, false>& stream) {
    namespace http = boost::beast::http;
    boost::system::error_code error;
    boost::beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::read(stream.next_layer(), buffer, request, error);
    if (error) return;
    if (options_.http) {
      while (!error) {
        boost::asio::write(stream.next_layer(), boost::asio::buffer(options_.http(request)), error);
        if (error || !options_.keep_alive) return;
        request = {};
        http::read(stream.next_layer(), buffer, request, error);
      }
      return;
    }
    stream.set_option(boost::beast::websocket::stream_base::decorator(
        [this](boost::beast::websocket::response_type& response) {
          if (options_.subprotocol.empty()) return;
          response.set(http::field::sec_websocket_protocol, options_.subprotocol);
        }));
    stream.accept(request, error);
    if (error) return;
    PeerOver<NextLayer> peer(stream);
    peer.number = number;
    peer.target = std::string(request.target());
    peer.user_agent = std::string(request[http::field::user_agent]);
    peer.authorization = std::string(request[http::field::authorization]);
    peer.subprotocols = std::string(request[http::field::sec_websocket_protocol]);
    options_.script(peer);
  }

  /// Before the socket is closed: its number may belong to another file afterwards.
  void forget(int handle) {
    const std::scoped_lock lock(mutex_);
    open_.remove(handle);
  }

  Options options_;
  boost::asio::io_context io_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
  Tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::list<int> open_;
  std::atomic<int> connections_{0};
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace skua::test
