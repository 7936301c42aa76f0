#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "documents/made_document.hpp"

namespace skua::test {

/// An operation of a PLC directory, the first one of its DID.
inline nlohmann::json made_operation(const std::string& handle = "alice.example") {
  using nlohmann::json;
  return {{"type", "plc_operation"},
          {"verificationMethods", {{"atproto", "did:key:" + k256_multikey()}}},
          {"alsoKnownAs", json::array({"at://" + handle})},
          {"services",
           {{"atproto_pds",
             {{"type", "AtprotoPersonalDataServer"}, {"endpoint", "https://pds.example"}}}}},
          {"prev", nullptr}};
}

/// The moment from which the lines of an export count.
inline constexpr Timestamp kExportStart{std::chrono::seconds(1'700'000'000)};

/// A line of an export, made some time after kExportStart.
inline std::string made_line(const std::string& did, std::chrono::milliseconds after,
                             const nlohmann::json& operation, bool nullified = false,
                             const std::string& cid = "bafyrei") {
  return nlohmann::json{{"did", did},
                        {"operation", operation},
                        {"cid", cid},
                        {"nullified", nullified},
                        {"createdAt", format_datetime(kExportStart + after)}}
      .dump();
}

}  // namespace skua::test
