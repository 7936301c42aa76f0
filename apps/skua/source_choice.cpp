#include "source_choice.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.hpp"
#include "cursor_choice.hpp"
#include "relay_address.hpp"

namespace skua::cli {
namespace {

constexpr const char* kChannel = "/channel";
constexpr const char* kSubscribe = "/subscribe";

transport::Endpoint address(const Found& found, const char* default_path, const char* example) {
  const auto endpoint = transport::parse_endpoint(found.value, default_path);
  if (endpoint.has_error()) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is {}", found.origin, found.value,
                                 endpoint.error().message(), example));
  }
  return *endpoint;
}

std::string read_file(const Found& found) {
  std::ifstream in(found.value, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    throw UsageError(fmt::format("{}: {} cannot be read", found.origin, found.value));
  }
  return content;
}

/// The first line of a file: editors end it with a newline, which is no part of a password.
std::string read_password(const Found& found) {
  std::string password = read_file(found);
  password.erase(std::min(password.find_first_of("\r\n"), password.size()));
  if (password.empty()) {
    throw UsageError(fmt::format("{}: {} holds no password", found.origin, found.value));
  }
  return password;
}

app::Source jetstream_source(const Settings& settings, const SourceFlags& flags, const Found& url) {
  app::JetstreamSource source;
  source.endpoint = address(url, kSubscribe, "wss://jetstream2.us-east.bsky.network");
  if (source.endpoint.path.find("subscribeEvents") != std::string::npos) {
    source.version = app::JetstreamSource::Version::V2;
  }
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    source.cursor = cursor_choice(*cursor);
  }
  if (const auto file = settings.find(kZstdDictionary, flags.zstd_dictionary)) {
    try {
      source.dictionary =
          std::make_shared<const transport::ZstdDictionary>(as_bytes(read_file(*file)));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("{}: {}: {}", file->origin, file->value, error.what()));
    }
  }
  return source;
}

app::Source relay_source(const Settings& settings, const SourceFlags& flags, const Found& url) {
  app::RelaySource source{relay_address(url), {}};
  if (const auto cursor = settings.find(kCursor, flags.cursor)) {
    source.cursor = cursor_choice(*cursor);
  }
  return source;
}

}  // namespace

app::Source source_choice(const Settings& settings, const SourceFlags& flags) {
  // What the command line names stands before all settings of other kinds.
  const int named =
      int{flags.relay.has_value()} + int{flags.tap.has_value()} + int{flags.jetstream.has_value()};
  const auto find = [&](const SettingName& name, const std::optional<std::string>& flag) {
    return named > 0 && !flag ? std::optional<Found>() : settings.find(name, flag);
  };
  const auto relay = find(kRelay, flags.relay);
  const auto tap = find(kTap, flags.tap);
  const auto jetstream = find(kJetstream, flags.jetstream);
  if (int{relay.has_value()} + int{tap.has_value()} + int{jetstream.has_value()} > 1) {
    throw UsageError("a relay, a Tap and a Jetstream are different sources: name one of them");
  }
  if (tap) {
    if (flags.cursor) {
      throw UsageError("--cursor: a Tap has none, it keeps what was not acknowledged");
    }
    return tap_address(settings, flags.tap, flags.tap_password_file);
  }
  if (jetstream) return jetstream_source(settings, flags, *jetstream);
  return relay_source(settings, flags, settings.require(kRelay, flags.relay, "wss://HOST"));
}

app::TapSource tap_address(const Settings& settings, const std::optional<std::string>& flag,
                           const std::optional<std::string>& password_file) {
  const Found url = settings.require(kTap, flag, "ws://localhost:2480");
  app::TapSource tap{address(url, kChannel, "ws://localhost:2480"), ""};
  if (const auto file = settings.find(kTapPasswordFile, password_file)) {
    tap.password = read_password(*file);
  }
  return tap;
}

std::string trust_words(const app::Source& source, const std::string& verified) {
  if (std::holds_alternative<app::RelaySource>(source)) return verified;
  return "an unverified source: signatures are not in what it sends";
}

}  // namespace skua::cli
