#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/bytes.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_CDict_s;

namespace skua::sim {

/// A zstd dictionary (RFC 8878, 5), and compression with it. One thread.
class ZstdDictionary {
 public:
  /// Throws std::runtime_error if the file cannot be read or is not a dictionary with an id.
  explicit ZstdDictionary(const std::filesystem::path& path);
  ~ZstdDictionary();

  std::uint32_t id() const { return id_; }
  const Bytes& content() const { return content_; }
  /// Returns one zstd frame that names the dictionary.
  Bytes compressed(ByteView message) const;

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
    void operator()(ZSTD_CDict_s* dictionary) const;
  };

  Bytes content_;
  std::uint32_t id_ = 0;
  std::unique_ptr<ZSTD_CDict_s, Free> dictionary_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

}  // namespace skua::sim
