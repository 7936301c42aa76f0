#include "store/process_name.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/random.hpp"

namespace skua::store {
namespace {

constexpr std::size_t kLongestName = 63;
/// The part of the role that is kept if the host name is long.
constexpr std::size_t kRoleKept = 16;

}  // namespace

const std::string& process_token() {
  static const std::string token = random_token();
  return token;
}

std::string process_name(const std::string& role) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string end = " " + process_token();
  const std::size_t room = kLongestName - end.size();
  std::string where = " pid " + std::to_string(getpid()) + " at " + host.data();
  where = where.substr(0, room - std::min(role.size(), kRoleKept));
  return role.substr(0, room - where.size()) + where + end;
}

}  // namespace skua::store
