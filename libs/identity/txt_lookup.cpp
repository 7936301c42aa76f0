#include "identity/txt_lookup.hpp"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <cstddef>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <span>

#include "identity/errc.hpp"

namespace skua::identity {
namespace {

constexpr std::size_t kMaxAnswerBytes = 65'535;
constexpr std::size_t kMaxRecords = 100;

/// The resolver's state of one look-up.
class Resolver {
 public:
  Resolver() : ready_(::res_ninit(&state_) == 0) {}
  ~Resolver() {
    if (ready_) ::res_nclose(&state_);
  }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  bool ready() const { return ready_; }
  struct __res_state& state() {
    return state_;
  }

  /// False: no address.
  bool ask_only(const DnsServer& server) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    if (::inet_pton(AF_INET, server.address.c_str(), &address.sin_addr) != 1) return false;
    state_.nscount = 1;
    state_.nsaddr_list[0] = address;
    return true;
  }

 private:
  // With `struct`: a function has the same name.
  struct __res_state state_ {};
  bool ready_;
};

/// The parts of a TXT record, each behind its length, joined.
std::string joined(std::span<const unsigned char> data) {
  std::string text;
  while (!data.empty()) {
    const std::size_t length = data.front();
    data = data.subspan(1);
    if (length > data.size()) break;
    text.append(reinterpret_cast<const char*>(data.data()), length);
    data = data.subspan(length);
  }
  return text;
}

Result<std::vector<std::string>> texts_of(std::span<const unsigned char> answer) {
  ns_msg message;
  if (::ns_initparse(answer.data(), static_cast<int>(answer.size()), &message) != 0) {
    return errc::dns_failed;
  }
  std::vector<std::string> texts;
  const int count = ns_msg_count(message, ns_s_an);
  for (int i = 0; i < count && texts.size() < kMaxRecords; ++i) {
    ns_rr record;
    if (::ns_parserr(&message, ns_s_an, i, &record) != 0) return errc::dns_failed;
    // Aliases stand among the answers too.
    if (ns_rr_type(record) != ns_t_txt) continue;
    const auto length = static_cast<std::size_t>(ns_rr_rdlen(record));
    texts.push_back(joined({ns_rr_rdata(record), length}));
  }
  return texts;
}

}  // namespace

TxtLookup dns_txt_lookup(const DnsServer& server, std::chrono::seconds timeout, int tries) {
  return [=](const std::string& name) -> Result<std::vector<std::string>> {
    Resolver resolver;
    if (!resolver.ready()) return errc::dns_failed;
    auto& state = resolver.state();
    if (!server.address.empty() && !resolver.ask_only(server)) return errc::dns_failed;
    state.retrans = static_cast<int>(timeout.count());
    state.retry = tries;
    std::vector<unsigned char> answer(kMaxAnswerBytes);
    const int length = ::res_nquery(&state, name.c_str(), ns_c_in, ns_t_txt, answer.data(),
                                    static_cast<int>(answer.size()));
    if (length < 0) {
      if (state.res_h_errno == HOST_NOT_FOUND || state.res_h_errno == NO_DATA) {
        return std::vector<std::string>();
      }
      return errc::dns_failed;
    }
    return texts_of(std::span(answer).first(static_cast<std::size_t>(length)));
  };
}

}  // namespace skua::identity
