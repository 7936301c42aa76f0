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

/// A CID in the two forms that atproto permits (atproto.com/specs/data-model#link-and-cid-formats):
/// CIDv1 with SHA-256 and the codec dag-cbor (records, tree nodes, commits) or raw (blobs).
struct Cid {
  static constexpr std::uint8_t kDagCbor = 0x71;
  static constexpr std::uint8_t kRaw = 0x55;
  /// The binary form has the bytes 01, codec, 12 and 20, and then the digest.
  static constexpr std::size_t kBinarySize = 36;

  std::uint8_t codec = kDagCbor;
  Digest digest{};

  /// Computes the CID of a block.
  static Cid of(ByteView block, std::uint8_t codec = kDagCbor) { return {codec, sha256(block)}; }

  /// Whether the bytes are the 36 bytes of the binary form of a CID that atproto permits.
  static bool is_binary(ByteView bytes) {
    return bytes.size() == kBinarySize && bytes[0] == 0x01 &&
           (bytes[1] == kDagCbor || bytes[1] == kRaw) && bytes[2] == 0x12 && bytes[3] == 0x20;
  }

  /// Returns the size of the binary CID of any version, codec and hash
  /// (github.com/multiformats/cid) at the beginning of `front`, or 0 if `front` does not begin with
  /// a CID.
  static std::size_t size_of_any(ByteView front);

  /// Reads the 36 bytes of the binary form. Returns an error for another version, codec, hash or
  /// length.
  static Result<Cid> parse_bytes(ByteView bytes);

  /// Reads the text form: `b` and lower-case base32 without padding.
  static Result<Cid> parse(std::string_view text);

  /// Reads the binary form without checks. A reader must have checked the bytes before.
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
