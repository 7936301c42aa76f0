#include "store/process_name.hpp"

#include <array>
#include <unistd.h>

namespace skua::store {

std::string process_name(const std::string& role) {
  constexpr std::size_t kLongest = 63;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string where = " pid " + std::to_string(getpid()) + " at " + host.data();
  // Who and where matter most; a long role gives way.
  const std::size_t room = where.size() < kLongest ? kLongest - where.size() : 0;
  return (role.substr(0, room) + where).substr(0, kLongest);
}

}  // namespace skua::store
