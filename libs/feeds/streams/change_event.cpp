#include "streams/change_event.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skua::streams {

namespace {

/// Reads a number without sign and leading zeros.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  if (text.size() > 1 && text.front() == '0') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json or_null(const std::optional<bool>& value) {
  return value ? Json(*value) : Json();
}

bool is_did(const std::string& target) {
  return target.starts_with("did:");
}

void add_references(Json& json, const ChangeEvent& event) {
  if (event.references.empty()) return;
  auto& references = json["references"] = Json::array();
  for (const auto& reference : event.references) {
    references.push_back({{"role", reference.role},
                          {"delta", reference.delta},
                          {is_did(reference.target) ? "did" : "uri", reference.target}});
  }
}

void add_label(Json& json, const ChangeEvent& event) {
  if (!event.references.empty()) json["uri"] = event.references.front().target;
  json["val"] = event.val;
  if (!event.label.empty()) json.update(Json::parse(event.label));
}

/// Adds a member, whose value is JSON text, to the JSON text of an object with members.
void append_member(std::string& object, std::string_view name, std::string_view value) {
  object.pop_back();
  object.append(",\"").append(name).append("\":").append(value).append("}");
}

std::string with_member(const Json& object, std::string_view name, std::string_view value) {
  std::string text = object.dump();
  append_member(text, name, value);
  return text;
}

std::string message_json(Json json, const ChangeEvent& event) {
  json["topic"] = event.topic;
  if (!event.message) return json.dump();
  const MessageContent& message = *event.message;
  json["key"] = message.key;
  json["id"] = message.id;
  json["enqueued_at"] = format_datetime(message.enqueued_at);
  if (event.omits_record) {
    json["payload_omitted"] = true;
    return json.dump();
  }
  std::string text = with_member(json, "headers", message.headers);
  append_member(text, "payload", message.payload);
  return text;
}

}  // namespace

std::string Position::text() const {
  return fmt::format("{}-{}", timeline, pos);
}

std::optional<Position> parse_position(std::string_view text) {
  const auto dash = text.find('-');
  Position position;
  if (dash == std::string_view::npos || !read_number(text.substr(0, dash), position.timeline) ||
      !read_number(text.substr(dash + 1), position.pos)) {
    return std::nullopt;
  }
  return position;
}

std::size_t ChangeEvent::content_bytes() const {
  std::size_t sum = record.size();
  if (message) sum += message->key.size() + message->payload.size() + message->headers.size();
  return sum;
}

std::size_t ChangeEvent::bytes() const {
  std::size_t sum = sizeof(ChangeEvent) + did.size() + collection.size() + rkey.size() +
                    cid.size() + content_bytes() + handle.size() + topic.size() + val.size() +
                    label.size();
  for (const auto& reference : references) sum += sizeof reference + reference.target.size();
  return sum;
}

std::string change_json(const ChangeEvent& event) {
  return change_json(event, Position{event.timeline, event.pos}.text());
}

std::string with_position(std::string json, std::string_view pos) {
  // change_json begins with the position.
  constexpr std::string_view kBegin = R"({"pos":")";
  if (!json.starts_with(kBegin)) return json;
  const std::size_t end = json.find('"', kBegin.size());
  return json.replace(kBegin.size(), end - kBegin.size(), pos);
}

std::string change_json(const ChangeEvent& event, std::string_view pos) {
  Json json{
      {"pos", pos}, {"time", format_datetime(event.at)}, {"kind", event.kind}, {"op", event.op}};
  if (!event.did.empty()) json["did"] = event.did;
  if (event.kind == "account") {
    json["active"] = or_null(event.active);
    json["status"] = or_null(event.status);
  } else if (event.kind == "handle") {
    json["handle"] = or_null(event.handle);
    json["handle_valid"] = or_null(event.handle_valid);
  } else if (event.kind == "label") {
    add_label(json, event);
  } else if (event.kind == "message") {
    return message_json(std::move(json), event);
  } else if (event.kind == "record") {
    json["collection"] = event.collection;
    json["rkey"] = event.rkey;
    json["rev"] = or_null(event.rev);
    if (!event.cid.empty()) json["cid"] = event.cid;
    add_references(json, event);
    if (event.is_superseded) json["superseded"] = true;
    if (event.omits_record) json["record_omitted"] = true;
    if (!event.record.empty()) return with_member(json, "record", event.record);
  }
  return json.dump();
}

std::optional<std::string> jetstream_json(const ChangeEvent& event, std::int64_t time_us) {
  Json json{{"did", event.did}, {"time_us", time_us}};
  const auto time = format_datetime(event.at);
  if (event.kind == "account") {
    json["kind"] = "account";
    auto& account = json["account"] = {{"active", event.active.value_or(true)},
                                       {"did", event.did},
                                       {"seq", event.pos},
                                       {"time", time}};
    if (!event.status.empty()) account["status"] = event.status;
    return json.dump();
  }
  if (event.kind == "handle") {
    json["kind"] = "identity";
    auto& identity = json["identity"] = {{"did", event.did}, {"seq", event.pos}, {"time", time}};
    if (!event.handle.empty()) identity["handle"] = event.handle;
    return json.dump();
  }
  if (event.kind != "record" || event.is_superseded) return std::nullopt;
  json["kind"] = "commit";
  Json commit{{"rev", event.rev},
              {"operation", event.op},
              {"collection", event.collection},
              {"rkey", event.rkey}};
  if (event.record.empty()) {
    json["commit"] = std::move(commit);
    return json.dump();
  }
  commit["cid"] = event.cid;
  return with_member(json, "commit", with_member(commit, "record", event.record));
}

}  // namespace skua::streams
