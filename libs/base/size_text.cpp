#include "base/size_text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace skua {

std::string size_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.0f} kB", std::ceil(bytes / 1e3));
}

}  // namespace skua
