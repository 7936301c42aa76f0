#include "sources/source.hpp"

namespace skua::sources {
namespace {

struct Kind {
  const char* operator()(const RelaySource& /*source*/) const { return "relay:"; }
  const char* operator()(const TapSource& /*source*/) const { return "tap:"; }
  const char* operator()(const JetstreamSource& /*source*/) const { return "jetstream:"; }
  const char* operator()(const LabelerSource& /*source*/) const { return "labeler:"; }
};

const transport::Endpoint& endpoint_of(const Source& source) {
  return std::visit([](const auto& one) -> const transport::Endpoint& { return one.endpoint; },
                    source);
}

}  // namespace

Source resumed(Source source, std::optional<std::int64_t> began) {
  const auto go_on = [&](CursorChoice& cursor) {
    using Kind = CursorChoice::Kind;
    if (began) {
      cursor = {Kind::Resume, *began};
    } else if (cursor.kind == Kind::Oldest) {
      cursor = {Kind::Resume, 0};
    } else if (cursor.kind == Kind::At) {
      cursor.kind = Kind::Resume;
    }
  };
  std::visit(
      [&](auto& one) {
        if constexpr (requires { one.cursor; }) go_on(one.cursor);
      },
      source);
  return source;
}

std::string source_name(const Source& source) {
  return std::visit(Kind{}, source) + endpoint_of(source).authority();
}

std::string source_url(const Source& source) {
  return endpoint_of(source).url();
}

}  // namespace skua::sources
