#include "serve/http_message.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace skua::sim {

namespace {

std::optional<unsigned> hex_digits(std::string_view two) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(two.data(), two.data() + two.size(), value, 16);
  if (two.size() != 2 || error != std::errc() || end != two.data() + 2) return std::nullopt;
  return value;
}

/// Decodes escapes. Invalid escapes stay unchanged.
std::string undo_escapes(std::string_view text, bool plus_is_space) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      if (const auto value = hex_digits(text.substr(at + 1, 2))) {
        plain.push_back(static_cast<char>(*value));
        at += 2;
        continue;
      }
    }
    plain.push_back(plus_is_space && text[at] == '+' ? ' ' : text[at]);
  }
  return plain;
}

/// Returns names and values in their order.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> arguments;
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? query.size() : pair.size() + 1);
    const auto equals = pair.find('=');
    const auto value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    arguments.emplace_back(undo_escapes(pair.substr(0, equals), true), undo_escapes(value, true));
  }
  return arguments;
}

/// Returns the part after the question mark.
std::string_view query_of(std::string_view target) {
  const auto question = target.find('?');
  return question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Request parse_request(std::string_view method, std::string_view target, std::string_view host,
                      std::string body) {
  Request request;
  request.method = std::string(method);
  request.target = std::string(target);
  request.path = undo_escapes(target.substr(0, target.find('?')), false);
  for (auto& [name, value] : parse_query(query_of(target))) {
    request.query[name] = std::move(value);
  }
  request.host = std::string(host.substr(0, host.rfind(':')));
  request.body = std::move(body);
  return request;
}

std::vector<std::string> all_of(const Request& request, std::string_view name) {
  std::vector<std::string> values;
  for (auto& argument : parse_query(query_of(request.target))) {
    if (argument.first == name) values.push_back(std::move(argument.second));
  }
  return values;
}

std::string basic_authorization(std::string_view user, std::string_view password) {
  const auto words = fmt::format("{}:{}", user, password);
  std::string encoded(4 * ((words.size() + 2) / 3) + 1, '\0');
  const auto length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                      reinterpret_cast<const unsigned char*>(words.data()),
                                      static_cast<int>(words.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return "Basic " + encoded;
}

Outcome<std::string> required(const Request& request, std::string_view name) {
  const auto found = request.query.find(name);
  if (found == request.query.end() || found->second.empty()) {
    return error_response(400, "InvalidRequest", fmt::format("the parameter {} is missing", name));
  }
  return found->second;
}

Outcome<std::int64_t> number_of(const Request& request, std::string_view name, std::int64_t usual,
                                std::int64_t lowest, std::int64_t highest) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  const auto number = parse_number(found->second);
  if (!number || *number < lowest || *number > highest) {
    return error_response(400, "InvalidRequest",
                          fmt::format("{} must be a number from {} to {}", name, lowest, highest));
  }
  return *number;
}

Outcome<std::optional<std::int64_t>> cursor_of(const Request& request) {
  const auto found = request.query.find("cursor");
  if (found == request.query.end()) return std::optional<std::int64_t>();
  const auto cursor = parse_number(found->second);
  if (!cursor || *cursor < 0) {
    return error_response(400, "InvalidRequest", "cursor must be a number");
  }
  return cursor;
}

Response json_response(const nlohmann::ordered_json& body, unsigned status) {
  using Json = nlohmann::ordered_json;
  const auto text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto response = text_response(text, "application/json");
  response.status = status;
  return response;
}

Response text_response(std::string_view text, std::string content_type) {
  Response response;
  response.content_type = std::move(content_type);
  response.body.assign(text.begin(), text.end());
  return response;
}

Response error_response(unsigned status, std::string_view error, std::string_view message) {
  return json_response({{"error", error}, {"message", message}}, status);
}

}  // namespace skua::sim
