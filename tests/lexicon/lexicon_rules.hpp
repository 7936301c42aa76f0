#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lexicon/schema.hpp"

namespace skua::test {

using nlohmann::json;

inline constexpr const char* kTime = "2026-07-04T14:38:08Z";
inline constexpr const char* kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
inline constexpr const char* kUri =
    "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3jquh3dxgi52o";

json strong_ref();
json blob(const std::string& mime_type = "image/png", std::int64_t size = 1234);

/// The violation of a record of `collection`, written as JSON.
std::optional<std::string> violation_of(const lexicon::Schema& schema, std::string_view collection,
                                        const json& record);

/// A schema of one document in JSON.
lexicon::Schema schema_of(const json& document);
/// A schema with the collection `com.example.record`, whose records have the fields `properties`.
lexicon::Schema schema_of_fields(const json& properties);

/// `text` so many times.
std::string repeated(std::string_view text, std::size_t times);

}  // namespace skua::test
