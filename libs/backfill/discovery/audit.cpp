#include "backfill/discovery/audit.hpp"

#include <cstdint>

#include "backfill/discovery/audit.sql.hpp"

namespace skua::backfill {

void begin_audit(store::Session& session, const AuditOptions& options, Timestamp now) {
  session.execute(sql::audit_first, options.relay, now);
  session.execute(sql::audit_begin, options.relay, now, options.every,
                  options.with_filtered_accounts);
}

std::size_t desynchronize_behind(store::Session& session, const std::string& host,
                                 std::span<const ListedRepo> repos,
                                 std::span<const std::string> sources, Timestamp now) {
  const auto rev = [](const ListedRepo& repo) {
    return repo.rev && repo.rev->fits_int8() ? repo.rev : std::nullopt;
  };
  return session
      .execute(sql::audit_behind, store::column(repos, &ListedRepo::did), store::column(repos, rev),
               host, sources, now)
      .affected();
}

}  // namespace skua::backfill
