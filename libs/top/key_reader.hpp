#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/view.hpp"

namespace skua::top {

/// Reads keys from the bytes that a terminal sends (ECMA-48, and xterm's keys of applications).
/// Unknown keys are left out. One thread.
class KeyReader {
 public:
  std::vector<Action> read(std::string_view bytes);

  /// Whether the bytes end within a key: call `flush` if no others follow at once.
  bool is_within_key() const { return !rest_.empty(); }
  /// The key whose bytes began: Escape, if it was that.
  std::vector<Action> flush();

 private:
  std::string rest_;
};

}  // namespace skua::top
