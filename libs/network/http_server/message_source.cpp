#include "http_server/message_source.hpp"

namespace skua::http_server {

std::optional<StreamEnd> MessageSource::receive(std::string_view /*text*/) {
  return std::nullopt;
}

}  // namespace skua::http_server
