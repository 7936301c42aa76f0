#pragma once

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace skua::test {

/// A client that sends and receives bytes, for tests of a server on loopback. A read waits at most
/// ten seconds.
class SocketClient {
 public:
  /// `receive_buffer`: of the socket, in bytes; 0: the system's.
  explicit SocketClient(std::uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    set_patience(std::chrono::seconds(10));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~SocketClient() { close(); }
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Ends the sending direction only.
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  /// Reads until the text contains `words`. The text of earlier reads remains. False: the server
  /// ended the connection first.
  bool read_until(std::string_view words) {
    while (text_.find(words) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }
  /// The same, but each read waits at most this long.
  bool read_until(std::string_view words, std::chrono::milliseconds patience) {
    set_patience(patience);
    const bool found = read_until(words);
    set_patience(std::chrono::seconds(10));
    return found;
  }
  /// Everything until the server ends the connection.
  const std::string& read_all() {
    while (read_some()) {
    }
    return text_;
  }
  const std::string& text() const { return text_; }

 private:
  void set_patience(std::chrono::milliseconds patience) {
    const timeval time{.tv_sec = patience.count() / 1000,
                       .tv_usec = patience.count() % 1000 * 1000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  }
  bool read_some() {
    std::array<char, 65536> bytes{};
    const auto count = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    text_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string text_;
};

inline std::string get(std::string_view target, std::string_view headers = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "\r\n";
}

}  // namespace skua::test
