#include "repo/car.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "atproto/data_model.hpp"
#include "base/seeded_hash.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"

namespace skua::repo {

namespace {

using atproto::Cid;

/// Removes an unsigned LEB128 number in its shortest form, of at most nine bytes, from the front of
/// `in` (github.com/multiformats/unsigned-varint).
Result<std::uint64_t> take_varint(ByteView& in) {
  constexpr std::size_t kMaxBytes = 9;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kMaxBytes; ++i) {
    if (i >= in.size()) return errc::car_truncated;
    const std::uint8_t byte = in[i];
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if ((byte & 0x80U) == 0) {
      if (byte == 0 && i > 0) return errc::car_bad_length;
      in = in.subspan(i + 1);
      return value;
    }
  }
  return errc::car_bad_length;
}

/// Removes a section from the front of `in`. A section is a length and as many bytes.
Result<ByteView> take_section(ByteView& in) {
  const auto length = take_varint(in);
  if (!length) return length.error();
  if (*length == 0) return errc::car_bad_length;
  if (*length > in.size()) return errc::car_truncated;
  const ByteView section = in.first(*length);
  in = in.subspan(*length);
  return section;
}

enum class Taken : std::uint8_t { Block, Nothing };

/// Removes sections from the front of `in` up to a block whose CID has SHA-256 and one of the two
/// codecs of repositories. Other blocks are skipped, because nothing in a repository refers to
/// them. Returns an error for a section that is not a block.
Result<Taken> take_block(ByteView& in, CarBlock& out) {
  while (!in.empty()) {
    const auto section = take_section(in);
    if (!section) return section.error();
    if (section->size() >= Cid::kBinarySize && Cid::is_binary(section->first(Cid::kBinarySize))) {
      out.cid = Cid::from_trusted_bytes(section->data());
      out.data = section->subspan(Cid::kBinarySize);
      return Taken::Block;
    }
    if (Cid::size_of_any(*section) == 0) return errc::car_bad_cid;
  }
  return Taken::Nothing;
}

/// Removes the header from the front of `car` and fills `roots`.
Result<void> take_header(ByteView& car, std::vector<Cid>& roots) {
  roots.clear();
  const auto section = take_section(car);
  if (!section) return section.error();

  thread_local atproto::Document document;
  if (const auto read = read_dag_cbor(*section, document, kAnyForm); !read) {
    return read.error() == errc::cbor_bad_link ? errc::car_bad_cid : errc::car_bad_header;
  }
  const auto version = document.root().find("version");
  if (!version || !version->is_integer()) return errc::car_bad_header;
  if (version->integer() != 1) return errc::car_bad_version;
  const auto list = document.root().find("roots");
  if (!list || !list->is_list()) return errc::car_bad_header;
  for (const atproto::Value root : list->items()) {
    if (!root.is_link()) return errc::car_bad_header;
    roots.push_back(root.link());
  }
  return {};
}

/// Empties `blocks`. Keeps the memory, unless a huge CAR has made the map far larger than this CAR
/// needs.
void reset(BlockMap& blocks, std::size_t car_size) {
  constexpr std::size_t kSmall = 4096;
  constexpr std::size_t kTypicalCarBlock = 256;
  const std::size_t expected = car_size / kTypicalCarBlock;
  if (blocks.bucket_count() > kSmall && blocks.bucket_count() / 8 > expected) {
    blocks = BlockMap();
  } else {
    blocks.clear();
  }
  blocks.reserve(expected);
}

void write_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

std::size_t DigestHash::operator()(const atproto::Digest& digest) const {
  // The hash needs a seed, because an attacker can make many blocks whose digests have equal
  // beginnings.
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), digest.data(), sizeof words);
  return seeded_hash(words[0], words[1]);
}

Result<CarReader> CarReader::open(ByteView car) {
  std::vector<Cid> roots;
  if (const auto header = take_header(car, roots); !header) return header.error();
  return CarReader(car, std::move(roots));
}

Result<std::optional<CarBlock>> CarReader::next() {
  CarBlock block;
  const auto taken = take_block(rest_, block);
  if (!taken) return taken.error();
  return *taken == Taken::Block ? std::optional(block) : std::nullopt;
}

std::size_t section_of(ByteView car, const CarBlock& block) {
  const std::size_t length = Cid::kBinarySize + block.data.size();
  std::size_t bytes = 1;
  while (bytes < 9 && length >> (7 * bytes) != 0) ++bytes;
  return static_cast<std::size_t>(block.data.data() - car.data()) - Cid::kBinarySize - bytes;
}

CarBlock car_block_at(ByteView car, std::size_t section) {
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = car[section++];
    length |= std::size_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return {Cid::from_trusted_bytes(car.data() + section),
          car.subspan(section + Cid::kBinarySize, length - Cid::kBinarySize)};
}

Result<void> load_car(ByteView car, LoadedCar& out) {
  reset(out.blocks, car.size());
  out.duplicates = 0;
  if (const auto header = take_header(car, out.roots); !header) return header.error();
  CarBlock block;
  for (;;) {
    const auto taken = take_block(car, block);
    if (!taken) return taken.error();
    if (*taken == Taken::Nothing) return {};
    if (atproto::sha256(block.data) != block.cid.digest) return errc::car_hash_mismatch;
    if (!out.blocks.emplace(block.cid.digest, block.data).second) ++out.duplicates;
  }
}

CarWriter::CarWriter(Bytes& out, std::span<const atproto::Cid> roots) : out_(out) {
  Bytes header;
  CborWriter writer(header);
  writer.map(2);
  writer.string("roots");
  writer.list(roots.size());
  for (const atproto::Cid& root : roots) writer.link(root);
  writer.string("version");
  writer.integer(1);
  write_varint(out_, header.size());
  out_.insert(out_.end(), header.begin(), header.end());
}

void CarWriter::block(const atproto::Cid& cid, ByteView data) {
  write_varint(out_, atproto::Cid::kBinarySize + data.size());
  const auto binary = cid.to_bytes();
  out_.insert(out_.end(), binary.begin(), binary.end());
  out_.insert(out_.end(), data.begin(), data.end());
}

atproto::Cid CarWriter::block(ByteView data) {
  const atproto::Cid cid = atproto::Cid::of(data);
  block(cid, data);
  return cid;
}

}  // namespace skua::repo
