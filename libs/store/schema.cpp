#include "store/schema.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "atproto/sha256.hpp"

namespace skua::store {
namespace {

std::string hex_digest(std::string_view text) {
  std::string digits;
  for (const std::uint8_t byte : atproto::sha256(as_bytes(text))) {
    digits += fmt::format("{:02x}", byte);
  }
  return digits;
}

}  // namespace

std::string SchemaFile::checksum() const {
  return hex_digest(sql);
}

std::string Migration::checksum() const {
  return hex_digest(sql);
}

std::string Migration::label() const {
  return fmt::format("{:04}_{}", version, name);
}

int Schema::version() const {
  return migrations.empty() ? baseline : std::max(baseline, migrations.back().version);
}

std::string Schema::tables_checksum() const {
  std::string text;
  for (const SchemaFile& file : tables) text += file.sql;
  return hex_digest(text);
}

}  // namespace skua::store
