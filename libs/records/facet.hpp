#pragma once

#include <cstdint>
#include <string_view>

namespace skua::records {

/// One feature of a rich text facet (app.bsky.richtext.facet): the meaning of the bytes
/// [byte_start, byte_end) of the text. A facet with several features becomes several of these.
struct Facet {
  enum class Kind : std::uint8_t { Mention, Link, Tag };

  std::int64_t byte_start = 0;
  std::int64_t byte_end = 0;
  Kind kind = Kind::Mention;
  /// The mentioned DID, the link's URI, or the tag without `#`.
  std::string_view value;
};

}  // namespace skua::records
