#include "letter_text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "base/utf8.hpp"
#include "command_line/table.hpp"
#include "event/frame_decoder.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor_reader.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t kMostHexBytes = 64;
constexpr std::size_t kMostCharacters = 10'000;
/// Of one column of the table.
constexpr std::size_t kMostInTable = 200;

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json time_or_null(const std::optional<Timestamp>& time) {
  return time ? nlohmann::json(format_datetime(*time)) : nlohmann::json(nullptr);
}

/// Nothing: not one DAG-CBOR value.
std::optional<nlohmann::json> decoded(const Bytes& payload) {
  atproto::Document document;
  if (!repo::read_dag_cbor(payload, document, repo::kAnyForm)) return std::nullopt;
  std::string text;
  records::append_json(text, document.root(), records::Nul::Escape);
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

const char* type_name(event::MessageType type) {
  using event::MessageType;
  switch (type) {
    case MessageType::Commit:
      return "#commit";
    case MessageType::Sync:
      return "#sync";
    case MessageType::Identity:
      return "#identity";
    case MessageType::Account:
      return "#account";
    case MessageType::Info:
      return "#info";
    case MessageType::Error:
      return "error";
    case MessageType::Unknown:
      return "unknown";
  }
  return "unknown";
}

nlohmann::json frame_json(const Bytes& payload) {
  const auto peek = event::peek_frame(payload);
  if (!peek) return nullptr;
  return {{"type", type_name(peek->type)},
          {"seq", peek->seq},
          {"did", printable(peek->did, kMostInTable)},
          {"rev", printable(peek->rev, kMostInTable)},
          {"time", printable(peek->time, kMostInTable)}};
}

std::string hex(ByteView bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes.first(std::min(bytes.size(), kMostHexBytes))) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

/// What the letter is about, in few characters.
std::string item_of(const store::LetterRow& letter) {
  if (letter.change) {
    return fmt::format("{} at {}-{}", letter.operation.value_or("change"), letter.change->timeline,
                       letter.change->position);
  }
  std::string item = letter.operation.value_or("");
  if (letter.path) item += (item.empty() ? "" : " ") + *letter.path;
  return item.empty() ? "-" : item;
}

/// A value on one line: texts without quotes.
std::string one_line(const nlohmann::json& value) {
  return printable(value.is_string() ? value.get<std::string>() : value.dump(), kMostCharacters);
}

}  // namespace

nlohmann::json letter_json(const store::LetterRow& letter) {
  nlohmann::json object = {
      {"id", letter.id},
      {"status", std::string(store::to_string(letter.status))},
      {"created_at", format_datetime(letter.created_at)},
      {"last_at", format_datetime(letter.last_at)},
      {"attempts", letter.attempts},
      {"consumer", letter.consumer},
      {"key", letter.key},
      {"did", letter.did.empty() ? nlohmann::json(nullptr) : nlohmann::json(letter.did)},
      {"operation", or_null(letter.operation)},
      {"error", letter.error},
      {"sqlstate", or_null(letter.sqlstate)},
      {"payload_bytes", or_null(letter.payload_bytes)},
      {"source", or_null(letter.source)},
      {"path", or_null(letter.path)},
      {"rev", nullptr},
      {"cid", nullptr},
      {"change", nullptr},
      {"lease_owner", or_null(letter.lease_owner)},
      {"lease_until", time_or_null(letter.lease_until)},
      {"finished_at", time_or_null(letter.finished_at)},
      {"note", or_null(letter.note)}};
  if (letter.rev) {
    object["rev"] = atproto::Tid{static_cast<std::uint64_t>(*letter.rev)}.to_string();
  }
  if (letter.cid) {
    object["cid"] = atproto::Cid{atproto::Cid::kDagCbor, *letter.cid}.to_string();
  }
  if (letter.change) {
    object["change"] = {{"timeline", letter.change->timeline},
                        {"position", letter.change->position},
                        {"lane", letter.change->lane},
                        {"actor_id", letter.change->actor_id},
                        {"collection_id", letter.change->collection_id},
                        {"rkey", letter.change->rkey}};
  }
  return object;
}

nlohmann::json payload_json(const store::LetterRow& letter, const Bytes& payload) {
  if (payload.empty()) return nullptr;
  nlohmann::json object = {
      {"bytes", letter.payload_bytes.value_or(static_cast<std::int32_t>(payload.size()))},
      {"kept", payload.size()}};
  if (auto value = decoded(payload)) {
    object[letter.cid ? "record" : "value"] = std::move(*value);
  } else if (nlohmann::json frame = frame_json(payload); !frame.is_null()) {
    object["frame"] = std::move(frame);
  } else if (is_utf8(as_text(payload))) {
    object["text"] = printable(as_text(payload), kMostCharacters);
  } else {
    object["hex"] = hex(payload);
  }
  return object;
}

std::string letters_text(const std::vector<store::LetterRow>& letters) {
  command_line::Table table({{"id", true},
                             {"status"},
                             {"last at"},
                             {"attempts", true},
                             {"consumer"},
                             {"account"},
                             {"item: error"}});
  for (const store::LetterRow& letter : letters) {
    table.add({std::to_string(letter.id), std::string(store::to_string(letter.status)),
               format_datetime(letter.last_at), std::to_string(letter.attempts),
               printable(letter.consumer, kMostInTable),
               letter.did.empty() ? "-" : printable(letter.did, kMostInTable),
               fmt::format("{}: {}", printable(item_of(letter), kMostInTable),
                           printable(letter.error, kMostInTable))});
  }
  return table.text();
}

std::string letter_text(const store::LetterRow& letter, const Bytes& payload) {
  std::string text;
  const auto add = [&](const std::string& name, const nlohmann::json& value) {
    if (!value.is_null()) text += fmt::format("{:<14} {}\n", name, one_line(value));
  };
  const nlohmann::json fields = letter_json(letter);
  for (const char* name :
       {"id",       "status", "error",       "sqlstate",    "attempts",    "created_at", "last_at",
        "consumer", "source", "did",         "path",        "operation",   "rev",        "cid",
        "key",      "change", "lease_owner", "lease_until", "finished_at", "note"}) {
    add(name, fields.at(name));
  }
  const nlohmann::json content = payload_json(letter, payload);
  if (content.is_null()) return text + "payload        none\n";
  for (const auto& [name, value] : content.items()) {
    if (name != "record" && name != "value") {
      add(name == "bytes" ? "payload_bytes" : name, value);
      continue;
    }
    text += name + "\n";
    const std::string dump = value.dump(2);
    for (std::size_t begin = 0; begin < dump.size();) {
      const std::size_t end = std::min(dump.find('\n', begin), dump.size());
      const auto line = std::string_view(dump).substr(begin, end - begin);
      text += "  " + printable(line, kMostCharacters) + "\n";
      begin = end + 1;
    }
  }
  return text;
}

std::string safe_dump(const nlohmann::json& value) {
  return value.dump(2, ' ', true);
}

}  // namespace skua::cli
