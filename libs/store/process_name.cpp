#include "store/process_name.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <unistd.h>

namespace skua::store {
namespace {

constexpr std::size_t kLongestName = 63;
/// The part of the role that is kept if the host name is long.
constexpr std::size_t kRoleKept = 16;

std::string draw_token() {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr std::size_t kDigitsOfToken = 22;
  // The system's random source.
  std::random_device source;
  std::string token;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kDigitsOfToken; ++i) {
    constexpr std::size_t kDigitsOfDraw = 5;
    if (i % kDigitsOfDraw == 0) bits = source();
    token += kDigits[bits % 64];
    bits /= 64;
  }
  return token;
}

}  // namespace

const std::string& process_token() {
  static const std::string token = draw_token();
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
