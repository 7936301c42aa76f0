#pragma once

#include <cstdint>
#include <string_view>

namespace skua::records {

/// One feature of a rich text facet (app.bsky.richtext.facet): what the bytes
/// [byte_start, byte_end) of the text stand for. A facet with several features gives several of
/// these.
struct Facet {
  enum class Kind : std::uint8_t { Mention, Link, Tag };

  std::int64_t byte_start = 0;
  std::int64_t byte_end = 0;
  Kind kind = Kind::Mention;
  /// The mentioned DID, the link's URI, or the tag without `#`.
  std::string_view value;
};

}  // namespace skua::records
