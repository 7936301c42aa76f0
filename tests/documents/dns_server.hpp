#pragma once

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace skua::test {

/// A DNS server on 127.0.0.1 that knows TXT records: of each name, texts, each made of parts. Names
/// that it does not know do not exist; a name without texts makes it fail (SERVFAIL). An answer
/// that does not fit into 512 bytes is whole over TCP; over UDP it has no record and is marked as
/// truncated (RFC 2181, section 9).
class DnsServer {
 public:
  using Text = std::vector<std::string>;
  using Zone = std::map<std::string, std::vector<Text>>;
  using Message = std::vector<unsigned char>;
  /// Makes something else of the answer to the question of a number, counted from 1. Empty:
  /// silence.
  using Mangle = std::function<Message(int number, Message answer)>;

  explicit DnsServer(Zone zone, Mangle mangle = nullptr)
      : zone_(std::move(zone)), mangle_(std::move(mangle)) {
    // A port that UDP has free, TCP may not have.
    for (int tries = 0; tries < 20 && port_ == 0; ++tries) bind_both();
    if (port_ == 0) throw std::runtime_error("no port for a DNS server");
    thread_ = std::thread([this] { serve(); });
  }

  ~DnsServer() {
    stopped_ = true;
    // An empty datagram to itself wakes it.
    auto address = loopback(port_);
    ::sendto(udp_, nullptr, 0, 0, generic(address), sizeof address);
    thread_.join();
    ::close(udp_);
    ::close(tcp_);
  }

  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Over UDP and TCP.
  int questions() const { return questions_; }

 private:
  static constexpr std::size_t kHeader = 12;
  static constexpr std::size_t kMaxDatagram = 512;

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

  void bind_both() {
    udp_ = ::socket(AF_INET, SOCK_DGRAM, 0);
    tcp_ = ::socket(AF_INET, SOCK_STREAM, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(udp_, generic(address), size) == 0 &&
        ::getsockname(udp_, generic(address), &size) == 0 &&
        ::bind(tcp_, generic(address), size) == 0 && ::listen(tcp_, 8) == 0) {
      port_ = ntohs(address.sin_port);
      return;
    }
    ::close(udp_);
    ::close(tcp_);
  }

  void serve() {
    while (!stopped_) {
      std::array<pollfd, 2> ready = {pollfd{udp_, POLLIN, 0}, pollfd{tcp_, POLLIN, 0}};
      if (::poll(ready.data(), ready.size(), -1) <= 0) continue;
      if (ready[0].revents != 0) serve_datagram();
      if (ready[1].revents != 0) serve_connection();
    }
  }

  void serve_datagram() {
    std::array<unsigned char, kMaxDatagram> question{};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const auto length = ::recvfrom(udp_, question.data(), question.size(), 0, generic(from), &size);
    if (length <= static_cast<ssize_t>(kHeader) + 5) return;
    auto answer = mangled(answer_to({question.begin(), question.begin() + length}));
    if (answer.size() > kMaxDatagram) {
      answer.resize(name_of(answer).second);
      answer[2] |= 0x02;  // truncated
      answer[7] = 0;      // no answers
    }
    if (!answer.empty()) {
      ::sendto(udp_, answer.data(), answer.size(), 0, generic(from), size);
    }
  }

  void serve_connection() {
    const int connection = ::accept(tcp_, nullptr, nullptr);
    std::array<unsigned char, 2> head{};
    if (::recv(connection, head.data(), head.size(), MSG_WAITALL) == 2) {
      Message question(head[0] * 256U + head[1]);
      if (::recv(connection, question.data(), question.size(), MSG_WAITALL) > 0) {
        auto answer = mangled(answer_to(question));
        const auto length = answer.size();
        answer.insert(answer.begin(), {static_cast<unsigned char>(length >> 8U),
                                       static_cast<unsigned char>(length)});
        ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    }
    ::close(connection);
  }

  Message mangled(Message answer) {
    const int number = ++questions_;
    return mangle_ ? mangle_(number, std::move(answer)) : answer;
  }

  /// The name in the question of a message, and where the question ends.
  static std::pair<std::string, std::size_t> name_of(const Message& message) {
    std::string name;
    std::size_t at = kHeader;
    while (at < message.size() && message[at] != 0) {
      if (!name.empty()) name += '.';
      name.append(message.begin() + at + 1, message.begin() + at + 1 + message[at]);
      at += message[at] + 1U;
    }
    return {name, at + 5};  // the name's end, type and class
  }

  Message answer_to(const Message& question) const {
    const auto [name, end] = name_of(question);
    Message answer(question.begin(), question.begin() + end);
    const auto known = zone_.find(name);
    const bool failing = known != zone_.end() && known->second.empty();
    const unsigned char code = known == zone_.end() ? 3 : failing ? 2 : 0;
    answer[2] = 0x84;  // an answer, authoritative
    answer[3] = code;
    for (std::size_t i = 4; i < kHeader; ++i) answer[i] = 0;
    answer[5] = 1;  // one question
    if (code != 0) return answer;
    answer[7] = static_cast<unsigned char>(known->second.size());
    for (const auto& text : known->second) {
      std::string data;
      for (const auto& part : text) data += static_cast<char>(part.size()) + part;
      const Message head = {0xc0, kHeader, 0, 16, 0, 1, 0, 0, 0, 60};
      answer.insert(answer.end(), head.begin(), head.end());
      answer.push_back(static_cast<unsigned char>(data.size() >> 8U));
      answer.push_back(static_cast<unsigned char>(data.size()));
      answer.insert(answer.end(), data.begin(), data.end());
    }
    return answer;
  }

  const Zone zone_;
  const Mangle mangle_;
  int udp_ = -1;
  int tcp_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<int> questions_{0};
  std::thread thread_;
};

}  // namespace skua::test
