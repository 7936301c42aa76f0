#include "stream_request.hpp"

#include <charconv>

namespace skua::sim {

StreamRequest parse_target(std::string_view target) {
  constexpr std::string_view kCursor = "cursor=";
  const auto question = target.find('?');
  const auto path = target.substr(0, question);
  StreamRequest request;
  if (path == "/xrpc/_health") {
    request.kind = StreamRequest::Kind::Health;
  } else if (path == "/xrpc/com.atproto.sync.subscribeRepos") {
    request.kind = StreamRequest::Kind::SubscribeRepos;
  }
  auto query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const auto parameter = query.substr(0, query.find('&'));
    query.remove_prefix(parameter.size() == query.size() ? query.size() : parameter.size() + 1);
    if (!parameter.starts_with(kCursor)) continue;
    const auto text = parameter.substr(kCursor.size());
    std::int64_t cursor = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cursor);
    if (error != std::errc() || end != text.data() + text.size() || cursor < 0) {
      request.kind = StreamRequest::Kind::BadCursor;
      return request;
    }
    request.cursor = cursor;
  }
  return request;
}

}  // namespace skua::sim
