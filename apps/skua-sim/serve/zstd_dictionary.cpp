#include "serve/zstd_dictionary.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <zstd.h>

namespace skua::sim {
namespace {

constexpr int kLevel = 3;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read the dictionary " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

void ZstdDictionary::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

void ZstdDictionary::Free::operator()(ZSTD_CDict_s* dictionary) const {
  ZSTD_freeCDict(dictionary);
}

ZstdDictionary::ZstdDictionary(const std::filesystem::path& path)
    : content_(read_file(path)),
      id_(ZSTD_getDictID_fromDict(content_.data(), content_.size())),
      dictionary_(ZSTD_createCDict(content_.data(), content_.size(), kLevel)),
      context_(ZSTD_createCCtx()) {
  if (id_ == 0 || !dictionary_) {
    throw std::runtime_error(path.string() + " is not a zstd dictionary with an id");
  }
}

ZstdDictionary::~ZstdDictionary() = default;

Bytes ZstdDictionary::compressed(ByteView message) const {
  Bytes out(ZSTD_compressBound(message.size()));
  const auto size = ZSTD_compress_usingCDict(context_.get(), out.data(), out.size(), message.data(),
                                             message.size(), dictionary_.get());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

}  // namespace skua::sim
