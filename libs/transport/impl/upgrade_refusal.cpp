#include "transport/impl/upgrade_refusal.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace skua::transport::impl {
namespace {

/// A longer body, such as an HTML page, is not an explanation.
constexpr std::size_t kMaxBody = 8 * 1024;
constexpr std::size_t kMaxShown = 200;

/// Text of a foreign host, made safe for one line of a log.
std::string one_line(std::string_view text) {
  if (!is_utf8(text)) return {};
  std::string line(text.substr(0, kMaxShown));
  while (!is_utf8(line)) line.pop_back();
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return std::string(trimmed(line));
}

std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return one_line(found->get_ref<const std::string&>());
}

}  // namespace

UpgradeRefusal read_refusal(unsigned status, std::string_view body) {
  UpgradeRefusal refusal{status, {}, {}};
  if (body.size() > kMaxBody) return refusal;
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    refusal.error = text_at(json, "error");
    refusal.message = text_at(json, "message");
  } else if (body.find('<') == std::string_view::npos) {
    refusal.message = one_line(body);
  }
  return refusal;
}

}  // namespace skua::transport::impl
