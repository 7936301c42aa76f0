#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::atproto {

/// A CID in the two forms that atproto blesses (atproto.com/specs/data-model#link-and-cid-formats):
/// CIDv1, SHA-256, codec dag-cbor (records, tree nodes, commits) or raw (blobs).
struct Cid {
  static constexpr std::uint8_t kDagCbor = 0x71;
  static constexpr std::uint8_t kRaw = 0x55;
  /// Length of the binary form: 01 codec 12 20 and the digest.
  static constexpr std::size_t kBinarySize = 36;

  std::uint8_t codec = kDagCbor;
  Digest digest{};

  /// The CID of a block.
  static Cid of(ByteView block, std::uint8_t codec = kDagCbor) { return {codec, sha256(block)}; }

  /// Whether these are the 36 bytes of the binary form of such a CID.
  static bool is_binary(ByteView bytes) {
    return bytes.size() == kBinarySize && bytes[0] == 0x01 &&
           (bytes[1] == kDagCbor || bytes[1] == kRaw) && bytes[2] == 0x12 && bytes[3] == 0x20;
  }

  /// The size of the binary CID of any version, codec and hash (github.com/multiformats/cid) that
  /// begins here; 0: none does.
  static std::size_t size_of_any(ByteView front);

  /// Reads the 36 bytes of the binary form. Error: another version, codec, hash or length.
  static Result<Cid> parse_bytes(ByteView bytes);

  /// Reads the text form: `b` and lower-case base32 without padding.
  static Result<Cid> parse(std::string_view text);

  /// The binary form that a reader has checked before.
  static Cid from_trusted_bytes(const std::uint8_t* bytes) {
    Cid cid;
    cid.codec = bytes[1];
    std::memcpy(cid.digest.data(), bytes + 4, cid.digest.size());
    return cid;
  }

  std::array<std::uint8_t, kBinarySize> to_bytes() const;
  std::string to_string() const;

  friend bool operator==(const Cid&, const Cid&) = default;
  friend auto operator<=>(const Cid&, const Cid&) = default;
};

}  // namespace skua::atproto
