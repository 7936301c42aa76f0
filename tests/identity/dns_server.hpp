#pragma once

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace skua::test {

/// A DNS server over UDP on 127.0.0.1 that knows TXT records: of each name, texts, each made of
/// parts. Names that it does not know do not exist; a name without texts makes it fail (SERVFAIL).
class DnsServer {
 public:
  using Text = std::vector<std::string>;
  using Zone = std::map<std::string, std::vector<Text>>;

  explicit DnsServer(Zone zone)
      : zone_(std::move(zone)), socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 || ::getsockname(socket_, generic, &size) != 0) {
      throw std::runtime_error("no UDP socket");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  ~DnsServer() {
    stopped_ = true;
    // An empty datagram to itself wakes it.
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    ::sendto(socket_, nullptr, 0, 0, reinterpret_cast<sockaddr*>(&address), sizeof address);
    thread_.join();
    ::close(socket_);
  }

  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  std::uint16_t port() const { return port_; }
  int questions() const { return questions_; }

 private:
  static constexpr std::size_t kHeader = 12;

  void serve() {
    while (!stopped_) {
      std::array<unsigned char, 512> question{};
      sockaddr_in from{};
      socklen_t size = sizeof from;
      auto* const generic = reinterpret_cast<sockaddr*>(&from);
      const auto length = ::recvfrom(socket_, question.data(), question.size(), 0, generic, &size);
      if (length <= static_cast<ssize_t>(kHeader) + 5) continue;
      ++questions_;
      const auto answer = answer_to({question.begin(), question.begin() + length});
      ::sendto(socket_, answer.data(), answer.size(), 0, generic, size);
    }
  }

  std::vector<unsigned char> answer_to(const std::vector<unsigned char>& question) const {
    std::string name;
    std::size_t at = kHeader;
    while (at < question.size() && question[at] != 0) {
      if (!name.empty()) name += '.';
      name.append(question.begin() + at + 1, question.begin() + at + 1 + question[at]);
      at += question[at] + 1U;
    }
    const std::size_t end = at + 5;  // the name's end, type and class
    std::vector<unsigned char> answer(question.begin(), question.begin() + end);
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
      const std::vector<unsigned char> head = {0xc0, kHeader, 0, 16, 0, 1, 0, 0, 0, 60};
      answer.insert(answer.end(), head.begin(), head.end());
      answer.push_back(static_cast<unsigned char>(data.size() >> 8U));
      answer.push_back(static_cast<unsigned char>(data.size()));
      answer.insert(answer.end(), data.begin(), data.end());
    }
    return answer;
  }

  const Zone zone_;
  const int socket_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<int> questions_{0};
  std::thread thread_;
};

}  // namespace skua::test
