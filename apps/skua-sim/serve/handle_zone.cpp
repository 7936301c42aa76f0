#include "serve/handle_zone.hpp"

#include <string_view>

namespace skua::sim {

DnsAnswer answer_from_handles(const DnsQuery& query, const Network& network) {
  constexpr std::string_view kPrefix = "_atproto.";
  if (query.verdict != DnsCode::ok) return {query.verdict, {}};
  std::string_view name = query.name;
  if (!name.starts_with(kPrefix)) return {DnsCode::no_such_name, {}};
  name.remove_prefix(kPrefix.size());
  const auto did = network.resolve_handle(name);
  if (!did) return {DnsCode::no_such_name, {}};
  if (query.type != kDnsTxt) return {DnsCode::ok, {}};
  return {DnsCode::ok, "did=" + *did};
}

}  // namespace skua::sim
