#include "app/source.hpp"

namespace skua::app {
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

std::string source_name(const Source& source) {
  return std::visit(Kind{}, source) + endpoint_of(source).authority();
}

std::string source_url(const Source& source) {
  return endpoint_of(source).url();
}

}  // namespace skua::app
