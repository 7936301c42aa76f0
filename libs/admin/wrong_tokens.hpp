#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/time.hpp"

namespace skua::admin {

/// Counts the wrong tokens of each client address, so that a client cannot try many. Its memory is
/// bounded: beyond `kAddresses` it forgets the address whose minute began first. One thread.
class WrongTokens {
 public:
  static constexpr std::size_t kAllowed = 10;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr std::size_t kAddresses = 1'024;

  /// Whether the address has sent `kAllowed` wrong tokens within a window that has not ended.
  bool is_refused(const std::string& address, Timestamp now) const;
  /// The address has sent a wrong token.
  void add(const std::string& address, Timestamp now);

  std::size_t size() const { return by_address_.size(); }

 private:
  struct Window {
    Timestamp begins;
    std::size_t count = 0;
  };

  std::map<std::string, Window> by_address_;
};

}  // namespace skua::admin
