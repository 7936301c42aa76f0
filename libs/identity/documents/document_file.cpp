#include "documents/document_file.hpp"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <zstd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "documents/did_document.hpp"

namespace skua::documents {
namespace {

using nlohmann::json;

constexpr std::size_t kLargest = std::size_t{2} << 30;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in && !in.eof()) {
    throw std::runtime_error(fmt::format("{}: cannot be read: {}", file.string(),
                                         std::generic_category().message(errno)));
  }
  return text;
}

std::string unpack(const std::string& packed, const std::filesystem::path& file) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::string text;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t rest = 0;
  do {
    const std::size_t have = text.size();
    text.resize(have + ZSTD_DStreamOutSize());
    ZSTD_outBuffer out{text.data() + have, text.size() - have, 0};
    rest = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(rest) != 0) {
      throw std::runtime_error(
          fmt::format("{}: cannot be unpacked: {}", file.string(), ZSTD_getErrorName(rest)));
    }
    text.resize(have + out.pos);
    if (text.size() > kLargest) {
      throw std::runtime_error(fmt::format("{}: larger than 2 GiB: split it", file.string()));
    }
    // The decoder needs more input, but the input has ended.
    if (rest != 0 && in.pos == in.size && out.pos == 0) {
      throw std::runtime_error(fmt::format("{}: ends in the middle", file.string()));
    }
  } while (in.pos < in.size || rest != 0);
  return text;
}

std::string did_in(const json& document) {
  if (!document.is_object()) return "";
  const auto id = document.find("id");
  return id != document.end() && id->is_string() ? id->get<std::string>() : "";
}

}  // namespace

DocumentFile DocumentFile::read(const std::filesystem::path& file) {
  std::string text = read_text(file);
  if (text.starts_with(kZstdMagic)) text = unpack(text, file);
  const json all = json::parse(text, nullptr, false);
  if (!all.is_array() && !all.is_object()) {
    throw std::runtime_error(
        fmt::format("{}: no DID document, nor a JSON array of them, nor an object of them by DID",
                    file.string()));
  }
  DocumentFile result;
  if (const std::string did = did_in(all); !did.empty()) {
    auto document = parse_did_document(text, did);
    if (!document) {
      throw std::runtime_error(
          fmt::format("{}: {}: {}", file.string(), did, document.error().message()));
    }
    result.accounts_.emplace(did, std::move(*document));
    return result;
  }
  std::size_t bad = 0;
  std::string first;
  for (const auto& item : all.items()) {
    const std::string did = all.is_object() ? item.key() : did_in(item.value());
    auto document = parse_did_document(item.value().dump(), did);
    if (document) {
      result.accounts_.insert_or_assign(did, std::move(*document));
    } else if (++bad == 1) {
      first = fmt::format("{}: {}", did.empty() ? item.key() : did, document.error().message());
    }
  }
  if (bad > 0) {
    result.problem_ = fmt::format("{} of {} unusable, the first is {}", bad,
                                  counted(all.size(), "document"), first);
  }
  return result;
}

const Account* DocumentFile::find(std::string_view did) const {
  const auto found = accounts_.find(did);
  return found == accounts_.end() ? nullptr : &found->second;
}

}  // namespace skua::documents
