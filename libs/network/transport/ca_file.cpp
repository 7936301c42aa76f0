#include "transport/ca_file.hpp"

#include "transport/impl/tls_client.hpp"

namespace skua::transport {

void check_ca_file(const std::string& file) {
  impl::make_tls_client_context(file);
}

}  // namespace skua::transport
