#include "identity/txt_lookup.hpp"

#include <algorithm>
#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <poll.h>
#include <sys/time.h>
#include <system_error>

#include "identity/errc.hpp"

namespace skua::identity {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

/// c-ares wants to be told once, before its first use by any thread.
bool library_ready() {
  static const bool ready = ::ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return ready;
}

/// The parts of the records joined; a new record begins where c-ares says so.
Result<Texts> texts_of(const unsigned char* answer, int length) {
  ares_txt_ext* first = nullptr;
  const int status = ::ares_parse_txt_reply_ext(answer, length, &first);
  const std::unique_ptr<ares_txt_ext, decltype(&::ares_free_data)> owner(first, &::ares_free_data);
  if (status == ARES_ENODATA) return Texts();
  if (status != ARES_SUCCESS) return errc::dns_failed;
  Texts texts;
  for (const auto* part = first; part != nullptr; part = part->next) {
    if (part->record_start != 0 || texts.empty()) texts.emplace_back();
    texts.back().append(reinterpret_cast<const char*>(part->txt), part->length);
  }
  return texts;
}

/// c-ares's state of one look-up. One thread.
class Channel {
 public:
  explicit Channel(const DnsPatience& patience) {
    ares_options options{};
    // No other name is asked for in place of this one.
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
    options.timeout = static_cast<int>(patience.first_wait.count());
    options.tries = patience.tries;
    constexpr int kSet = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
    if (::ares_init_options(&channel_, &options, kSet) != ARES_SUCCESS) channel_ = nullptr;
  }
  ~Channel() {
    if (channel_ != nullptr) ::ares_destroy(channel_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool ready() const { return channel_ != nullptr; }

  /// False: no address.
  bool ask_only(const DnsServer& server) {
    ares_addr_port_node node{};
    if (::inet_pton(AF_INET, server.address.c_str(), &node.addr.addr4) == 1) {
      node.family = AF_INET;
    } else if (::inet_pton(AF_INET6, server.address.c_str(), &node.addr.addr6) == 1) {
      node.family = AF_INET6;
    } else {
      return false;
    }
    node.udp_port = server.port;
    node.tcp_port = server.port;
    return ::ares_set_servers_ports(channel_, &node) == ARES_SUCCESS;
  }

  Result<Texts> ask(const std::string& name, SteadyClock::time_point until) {
    ::ares_query(channel_, name.c_str(), ns_c_in, ns_t_txt, &Channel::answered, this);
    while (!done_) {
      const auto left = std::chrono::ceil<milliseconds>(until - SteadyClock::now());
      // Ends the query with a call of `answered`.
      if (left <= milliseconds(0)) {
        ::ares_cancel(channel_);
      } else {
        wait(left);
      }
    }
    return result_;
  }

 private:
  /// Lets c-ares work on what came, or on what is overdue, within a time.
  void wait(milliseconds longest) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int bits = ::ares_getsock(channel_, sockets.data(), static_cast<int>(sockets.size()));
    std::array<pollfd, ARES_GETSOCK_MAXNUM> polled{};
    nfds_t count = 0;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(bits, i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(bits, i)) events |= POLLOUT;
      if (events != 0) polled[count++] = {sockets[i], events, 0};
    }
    timeval due{};
    ::ares_timeout(channel_, nullptr, &due);
    const auto its_own = std::chrono::seconds(due.tv_sec) +
                         std::chrono::ceil<milliseconds>(std::chrono::microseconds(due.tv_usec));
    const auto time = std::min(longest, std::chrono::duration_cast<milliseconds>(its_own));
    if (::poll(polled.data(), count, static_cast<int>(time.count())) > 0) {
      for (nfds_t i = 0; i < count; ++i) {
        // A refusal shows as an error, and is read like an answer.
        const bool readable = (polled[i].revents & ~POLLOUT) != 0;
        const bool writable = (polled[i].revents & POLLOUT) != 0;
        if (!readable && !writable) continue;
        ::ares_process_fd(channel_, readable ? polled[i].fd : ARES_SOCKET_BAD,
                          writable ? polled[i].fd : ARES_SOCKET_BAD);
      }
    }
    ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what is overdue
  }

  static void answered(void* self, int status, int /*timeouts*/, unsigned char* answer,
                       int length) {
    auto& channel = *static_cast<Channel*>(self);
    channel.done_ = true;
    if (status == ARES_SUCCESS) {
      channel.result_ = texts_of(answer, length);
    } else if (status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME) {
      channel.result_ = Texts();
    }
  }

  ares_channel channel_ = nullptr;
  bool done_ = false;
  Result<Texts> result_ = errc::dns_failed;
};

bool is_ip_address(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace

std::optional<DnsServer> parse_dns_server(std::string_view text) {
  DnsServer server;
  if (is_ip_address(std::string(text))) {
    server.address = text;
    return server;
  }
  const auto colon = text.ends_with(']') ? std::string_view::npos : text.rfind(':');
  auto address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  server.address = address;
  if (!is_ip_address(server.address)) return std::nullopt;
  if (colon == std::string_view::npos) return server;
  const auto port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  if (error != std::errc() || end != port.data() + port.size() || server.port == 0) {
    return std::nullopt;
  }
  return server;
}

TxtLookup dns_txt_lookup(const DnsServer& server, const DnsPatience& patience) {
  return [=](const std::string& name) -> Result<Texts> {
    const auto until = SteadyClock::now() + patience.total;
    if (!library_ready()) return errc::dns_failed;
    Channel channel(patience);
    if (!channel.ready()) return errc::dns_failed;
    if (!server.address.empty() && !channel.ask_only(server)) return errc::dns_failed;
    return channel.ask(name, until);
  };
}

}  // namespace skua::identity
