#include "backfill/discovery/audit.hpp"

#include <cstdint>

#include "backfill/discovery/audit.sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Statement;

}  // namespace

void begin_audit(store::Session& session, const AuditOptions& options, Timestamp now) {
  Params first;
  first.text(options.relay).timestamp(now);
  session.execute(sql::audit_first, first);
  Params begin = first;
  begin.int8(options.every.count()).boolean(options.with_filtered_accounts);
  session.execute(sql::audit_begin, begin);
}

std::size_t desynchronize_behind(store::Session& session, const std::string& host,
                                 std::span<const ListedRepo> repos,
                                 std::span<const std::string> sources, Timestamp now) {
  Array dids(Array::Type::text);
  Array revs(Array::Type::int8);
  for (const ListedRepo& repo : repos) {
    dids.text(repo.did);
    if (repo.rev && repo.rev->fits_int8()) {
      revs.int8(static_cast<std::int64_t>(repo.rev->value));
    } else {
      revs.null();
    }
  }
  Array names(Array::Type::text);
  for (const std::string& source : sources) names.text(source);
  Params params;
  params.array(dids).array(revs).text(host).array(names).timestamp(now);
  return session.execute(sql::audit_behind, params).affected();
}

}  // namespace skua::backfill
