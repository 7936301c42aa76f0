#include "transport/relay_stream.hpp"

#include <utility>

namespace skua::transport {

StreamClientOptions relay_stream(Endpoint relay,
                                 std::function<std::optional<std::int64_t>()> cursor) {
  StreamClientOptions options;
  options.endpoint = std::move(relay);
  options.target = [endpoint = options.endpoint, cursor = std::move(cursor)] {
    return endpoint.target(cursor());
  };
  options.peer = "the relay";
  return options;
}

}  // namespace skua::transport
