#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::fuzz {

/// A decoder of hostile bytes with what must hold whatever they are. `run` returns for every input;
/// it throws PropertyBroken when the decoder contradicts itself. One thread at a time.
struct Target {
  std::string_view name;
  void (*run)(ByteView input);
};

/// All targets. Each has a file in targets/ and a folder in corpus/.
std::span<const Target> targets();

/// A property of a decoder does not hold.
class PropertyBroken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws PropertyBroken unless `holds`.
inline void require(bool holds, const char* property) {
  if (!holds) throw PropertyBroken(property);
}

/// Gives each block of a CAR that lies in `bytes` the CID of its content, wherever its old CID
/// stands: a mutated block is then as valid as its neighbours, and decoders read on behind the
/// check of hashes. `car` is a part of `bytes`.
void rehash_car(std::span<std::uint8_t> bytes, std::span<std::uint8_t> car);

// The targets.
void run_car(ByteView input);
void run_dag_cbor(ByteView input);
void run_did_document(ByteView input);
void run_frame(ByteView input);
void run_jetstream(ByteView input);
void run_label_frame(ByteView input);
void run_mst(ByteView input);
void run_read_ahead(ByteView input);
void run_repository(ByteView input);
void run_tap(ByteView input);

}  // namespace skua::fuzz
