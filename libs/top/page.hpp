#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace skua::top {

/// The pages that are read. The first two answer from the state of the process, the others from the
/// database.
enum class Page : std::uint8_t { Health, Metrics, Status, Latest };
inline constexpr std::array kPages = {Page::Health, Page::Metrics, Page::Status, Page::Latest};

/// The end of a request for a page.
struct Answer {
  Page page = Page::Health;
  std::chrono::steady_clock::time_point at;
  /// Of HTTP; 0: there is no answer.
  unsigned status = 0;
  std::string body;
  /// Why there is no answer.
  std::string failure;
};

/// `/metrics`.
const char* path_of(Page page);

}  // namespace skua::top
