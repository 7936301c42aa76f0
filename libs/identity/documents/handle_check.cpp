#include "documents/handle_check.hpp"

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
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "documents/errc.hpp"
#include "transport/errc.hpp"

namespace skua::documents {

namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

/// c-ares must be initialized once, before its first use by any thread.
bool library_ready() {
  static const bool ready = ::ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return ready;
}

/// Joins the parts of each record. c-ares marks the first part of a record.
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

/// The state of c-ares for one look-up. One thread.
class Channel {
 public:
  explicit Channel(const DnsTimeouts& timeouts) {
    ares_options options{};
    // c-ares must not ask for another name in place of this name.
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
    options.timeout = static_cast<int>(timeouts.first_wait.count());
    options.tries = timeouts.tries;
    constexpr int kSet = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
    if (::ares_init_options(&channel_, &options, kSet) != ARES_SUCCESS) channel_ = nullptr;
  }
  ~Channel() {
    if (channel_ != nullptr) ::ares_destroy(channel_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool ready() const { return channel_ != nullptr; }

  /// Returns false if the server's address is not an IP address.
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
      // Cancelling the query calls `answered`.
      if (left <= milliseconds(0)) {
        ::ares_cancel(channel_);
      } else {
        wait(left);
      }
    }
    return result_;
  }

 private:
  /// Lets c-ares process answers and expired waits, within a time.
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
        // A refused connection shows as an error, which is handled like an answer.
        const bool readable = (polled[i].revents & ~POLLOUT) != 0;
        const bool writable = (polled[i].revents & POLLOUT) != 0;
        if (!readable && !writable) continue;
        ::ares_process_fd(channel_, readable ? polled[i].fd : ARES_SOCKET_BAD,
                          writable ? polled[i].fd : ARES_SOCKET_BAD);
      }
    }
    ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // processes expired waits
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

constexpr std::size_t kMaxDidBytes = 2048;
constexpr std::string_view kTxtPrefix = "did=";
/// Some editors write this mark before the text of a file.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The room for blanks and a byte order mark around the DID.
constexpr std::size_t kMaxPadding = 64;

/// The domains that no handle may have, because they do not resolve or name hosts of a local
/// network. `.test` is permitted, because it is for development.
constexpr std::array<std::string_view, 8> kForbidden = {
    ".alt", ".arpa", ".example", ".internal", ".invalid", ".local", ".localhost", ".onion"};

Result<std::string> checked(std::string_view handle) {
  if (!atproto::is_handle(handle)) return errc::handle_syntax;
  auto lower = ascii_lower(handle);
  const bool forbidden = std::any_of(kForbidden.begin(), kForbidden.end(),
                                     [&](auto domain) { return lower.ends_with(domain); });
  if (forbidden) return errc::handle_syntax;
  return lower;
}

/// Returns whether a failed request shows that the host names no DID.
bool shows_no_did(const ErrorCode& error) {
  // Many hosts answer every path with a page, which is longer than a DID.
  return error == transport::errc::host_not_found || error == transport::errc::http_too_large;
}

/// Returns the DID that a host's answer consists of. Errors: rate_limited, server_failed,
/// handle_not_found.
Result<std::string> did_of_answer(const transport::HttpAnswer& answer) {
  if (answer.status == 429) return errc::rate_limited;
  if (answer.status >= 500) return errc::server_failed;
  if (answer.status != 200) return errc::handle_not_found;
  std::string_view body = answer.body;
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  const auto did = trimmed(body);
  // A page that the host sends for every path is not a wrong DID: it contradicts nothing.
  if (!atproto::is_did(did)) return errc::handle_not_found;
  return std::string(did);
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

TxtLookup dns_txt_lookup(const DnsServer& server, const DnsTimeouts& timeouts) {
  return [=](const std::string& name) -> Result<Texts> {
    const auto until = SteadyClock::now() + timeouts.total;
    if (!library_ready()) return errc::dns_failed;
    Channel channel(timeouts);
    if (!channel.ready()) return errc::dns_failed;
    if (!server.address.empty() && !channel.ask_only(server)) return errc::dns_failed;
    return channel.ask(name, until);
  };
}

HandleCheck::HandleCheck(transport::HttpClient& http, TxtLookup txt, std::uint16_t https_port)
    : http_(http), txt_(std::move(txt)), https_port_(https_port) {}

Result<std::string> HandleCheck::resolve(std::string_view handle) const {
  const auto name = checked(handle);
  if (!name) return name.error();
  auto by_dns = ask_dns(*name);
  // An answer of DNS counts even if it is invalid, because the owner of the name wrote it.
  if (by_dns || by_dns.error() == errc::handle_ambiguous) return by_dns;
  auto by_host = ask_host(*name);
  // If the host also names no DID, the error of DNS is the reason.
  const bool dns_decides =
      !by_host && (by_dns.error() == errc::dns_failed || by_host.error() == errc::handle_not_found);
  return dns_decides ? by_dns : by_host;
}

Result<std::string> HandleCheck::ask_dns(const std::string& handle) const {
  const auto texts = txt_("_atproto." + handle);
  if (!texts) return texts.error();
  std::string did;
  bool has_nonsense = false;
  for (std::string_view text : *texts) {
    if (!text.starts_with(kTxtPrefix)) continue;
    text.remove_prefix(kTxtPrefix.size());
    if (!atproto::is_did(text)) {
      has_nonsense = true;
    } else if (did.empty() || did == text) {
      did = text;
    } else {
      return errc::handle_ambiguous;
    }
  }
  // If there is a valid record, invalid records do not count.
  if (!did.empty()) return did;
  return has_nonsense ? errc::handle_ambiguous : errc::handle_not_found;
}

Result<std::string> HandleCheck::ask_host(const std::string& handle) const {
  transport::HttpRequest request;
  request.url = fmt::format("https://{}:{}/.well-known/atproto-did", handle, https_port_);
  request.max_body_bytes = kMaxDidBytes + kMaxPadding;
  const auto answer = http_.send(std::move(request));
  if (answer) return did_of_answer(*answer);
  if (shows_no_did(answer.error())) return errc::handle_not_found;
  return answer.error();
}

Result<void> HandleCheck::verify(std::string_view did, std::string_view handle) const {
  const auto found = resolve(handle);
  if (!found) return found.error();
  if (*found != did) return errc::handle_of_other;
  return {};
}

}  // namespace skua::documents
