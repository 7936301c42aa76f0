#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/zstd_messages.hpp"

namespace skua::sources {

/// Where a run begins.
struct CursorChoice {
  enum class Kind : std::uint8_t {
    Saved,   // the saved cursor; live when there is none
    Live,    // what comes from now on
    Oldest,  // the oldest that the source keeps
    At,      // after `seq`
    Resume,  // the saved cursor; after `seq` when there is none
  };
  Kind kind = Kind::Saved;
  std::int64_t seq = 0;
};

/// A relay or PDS: subscribeRepos.
struct RelaySource {
  transport::Endpoint endpoint;
  CursorChoice cursor;
};

/// A Tap: its `/channel`. It keeps what was not acknowledged, so that there is no cursor.
struct TapSource {
  transport::Endpoint endpoint;
  /// Of its user `admin`; empty: it wants none.
  std::string password;
};

/// A Jetstream.
struct JetstreamSource {
  enum class Version : std::uint8_t { V1, V2 };
  transport::Endpoint endpoint;
  Version version = Version::V1;
  CursorChoice cursor;
  /// Null: messages come without compression.
  std::shared_ptr<const transport::ZstdDictionary> dictionary;
};

/// A labeler: subscribeLabels. Labels are state: without a saved cursor it is read from its oldest.
struct LabelerSource {
  transport::Endpoint endpoint;
  CursorChoice cursor;
};

using Source = std::variant<RelaySource, TapSource, JetstreamSource, LabelerSource>;

inline bool is_relay(const Source& source) {
  return std::holds_alternative<RelaySource>(source);
}

inline bool is_labeler(const Source& source) {
  return std::holds_alternative<LabelerSource>(source);
}

/// What can be verified: frames are signed for, JSON is not.
inline bool is_signed(const Source& source) {
  return is_relay(source) || is_labeler(source);
}

/// The same source for a run that goes on in the place of another, whose database has become an
/// older one: at the saved cursor, or where there is none, after `began`; nothing: the other one
/// had read nothing.
Source resumed(Source source, std::optional<std::int64_t> began);

/// `relay:host`, `tap:host`, `jetstream:host` or `labeler:host`, with the port where there is one:
/// names a source in cursors, tombstones and dead letters.
std::string source_name(const Source& source);

/// Its URL, for people.
std::string source_url(const Source& source);

}  // namespace skua::sources
