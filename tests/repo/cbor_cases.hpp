#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "repo/errc.hpp"

namespace skua::repo::test_cases {

/// Bytes and what a strict reader says to them.
struct CborCase {
  std::string name;
  Bytes bytes;
  std::optional<errc> error;  // nothing: they are legal

  friend std::ostream& operator<<(std::ostream& out, const CborCase& c) { return out << c.name; }
};

/// Cases made here, one rule each.
std::vector<CborCase> own_cases();

}  // namespace skua::repo::test_cases
