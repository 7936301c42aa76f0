#include "http_server/exchange.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace skua::http_server {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Returns false if an escape is malformed, or if the text has a control character.
bool decode_escapes(std::string_view text, bool plus_is_space, std::string& plain) {
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return false;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
    plain += c;
  }
  return true;
}

/// Returns the parts of a text between separators, without empty parts.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::string_view name_of(Method method) {
  return method == Method::Post ? "POST" : "GET";
}

std::optional<Target> parse_target(std::string_view target) {
  Target result;
  const auto question = target.find('?');
  const auto path = target.substr(0, question);
  if (!path.starts_with('/') || !decode_escapes(path, false, result.path)) {
    return std::nullopt;
  }
  if (question == std::string_view::npos) return result;
  for (const auto pair : split(target.substr(question + 1), '&')) {
    const auto equals = std::min(pair.find('='), pair.size());
    std::string name;
    std::string value;
    if (!decode_escapes(pair.substr(0, equals), true, name) ||
        !decode_escapes(pair.substr(std::min(equals + 1, pair.size())), true, value)) {
      return std::nullopt;
    }
    result.query.emplace_back(std::move(name), std::move(value));
  }
  return result;
}

std::optional<std::string> parameter(const Request& request, std::string_view name) {
  for (const auto& [key, value] : request.target.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> parameters(const Request& request, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [key, value] : request.target.query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (ascii_lower(authorization.substr(0, kBearer.size())) != kBearer) return std::nullopt;
  return trimmed(authorization.substr(kBearer.size()));
}

bool accepts_event_stream(std::string_view accept) {
  if (trimmed(accept).empty()) return true;
  const auto ranges = split(accept, ',');
  return std::any_of(ranges.begin(), ranges.end(), [](std::string_view range) {
    const auto type = ascii_lower(trimmed(range.substr(0, range.find(';'))));
    return type == "text/event-stream" || type == "text/*" || type == "*/*";
  });
}

bool is_json_type(std::string_view content_type) {
  return ascii_lower(trimmed(content_type.substr(0, content_type.find(';')))) == "application/json";
}

bool is_known_host(std::string_view host, std::span<const std::string> names) {
  if (host.empty()) return true;
  std::string_view name = host;
  if (name.starts_with('[')) {
    name = name.substr(1, name.find(']') - 1);
  } else if (const auto colon = name.find(':'); colon == name.rfind(':')) {
    name = name.substr(0, colon);
  }
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(name), error);
  if (!error) return true;
  const std::string lower = ascii_lower(name);
  return lower == "localhost" || std::find(names.begin(), names.end(), lower) != names.end();
}

bool is_cross_origin(const Request& request) {
  if (request.origin.empty()) return false;
  const auto scheme = request.origin.find("://");
  if (scheme == std::string::npos) return true;
  return ascii_lower(request.origin.substr(scheme + 3)) != ascii_lower(request.host);
}

std::string error_json(std::string_view error, std::string_view message) {
  using Json = nlohmann::ordered_json;
  // The message may quote the client, so bytes that are not UTF-8 are replaced.
  return Json{{"error", error}, {"message", message}}.dump(-1, ' ', false,
                                                           Json::error_handler_t::replace);
}

Response error_response(unsigned status, std::string_view error, std::string_view message) {
  return {status, "application/json", error_json(error, message) + "\n"};
}

}  // namespace skua::http_server
