#include "tables/repository_table.hpp"

#include <algorithm>
#include <utility>

#include "postgres/sql_error.hpp"
#include "tables/repository_table.sql.hpp"

namespace skua::tables {
namespace {

/// The reason of a resync after a Gap. The reason also shows that a Gap is the cause.
constexpr const char* kGapReason = "a message of the account was not applied in full";
constexpr const char* kReservedReason =
    "a message of the account was not applied in full, as of many accounts of its host";

/// A row of repositories_load.
struct StoredRepository {
  std::string did;
  std::optional<atproto::Tid> rev;
  std::optional<atproto::Digest> data;
  bool active;
  bool wants_whole;
  std::optional<Timestamp> hidden_since;
};

/// A row of repositories_done.
struct DoneRepository {
  std::string did;
  bool is_complete;
};

void save_some(postgres::Session& session, std::span<const RepositoryProgress> progress,
               Resync resync, Timestamp now) {
  const auto rev = [](const RepositoryProgress& one) -> std::optional<atproto::Tid> {
    if (!one.row.head) return std::nullopt;
    return one.row.head->rev;
  };
  const auto data = [](const RepositoryProgress& one) -> std::optional<ByteView> {
    if (!one.row.head) return std::nullopt;
    return one.row.head->data.digest;
  };
  session.execute(
      sql::repositories_save,
      postgres::column(
          progress, [](const RepositoryProgress& one) -> const auto& { return one.row.did; }),
      postgres::column(progress, rev), postgres::column(progress, data),
      postgres::column(progress, [](const RepositoryProgress& one) { return one.row.active; }),
      postgres::column(progress, &RepositoryProgress::breaks), now, resync == Resync::All,
      postgres::column(progress, &RepositoryProgress::anchor),
      postgres::column(progress, &RepositoryProgress::born));
}

}  // namespace

std::vector<RepositoryRow> load_repositories(postgres::Session& session,
                                             std::span<const std::string> dids) {
  std::vector<RepositoryRow> found;
  for (StoredRepository& stored :
       session.query<StoredRepository>(sql::repositories_load, postgres::column(dids))) {
    RepositoryRow& row = found.emplace_back();
    row.did = std::move(stored.did);
    if (stored.rev && stored.data) {
      row.head = {*stored.rev, {atproto::Cid::kDagCbor, *stored.data}};
    }
    row.active = stored.active;
    row.wants_whole = stored.wants_whole;
    row.hidden_since = stored.hidden_since;
  }
  return found;
}

void save_repositories(postgres::Session& session, std::span<const RepositoryProgress> progress,
                       Resync resync, Timestamp now) {
  // Bounds the memory of a statement. The transaction has no such bound.
  constexpr std::size_t kAtOnce = 10'000;
  for (std::size_t begin = 0; begin < progress.size(); begin += kAtOnce) {
    save_some(session, progress.subspan(begin, std::min(kAtOnce, progress.size() - begin)), resync,
              now);
  }
}

void desynchronize(postgres::Session& session, std::span<const Gap> gaps, Timestamp now) {
  if (gaps.empty()) return;
  session.execute(sql::repositories_desynchronize, postgres::column(gaps, &Gap::did),
                  postgres::column(gaps, &Gap::rev), now, kGapReason);
}

std::chrono::seconds resync_delay(int attempts) {
  constexpr std::chrono::seconds kFirst{60};
  constexpr std::chrono::seconds kLongest = std::chrono::hours(24);
  return std::min<std::chrono::seconds>(kFirst * (1 << std::clamp(attempts - 1, 0, 12)), kLongest);
}

std::vector<DueResync> take_due_resyncs(postgres::Session& session, Timestamp now,
                                        std::chrono::seconds lease, std::size_t limit) {
  return session.query<DueResync>(sql::repositories_take_due, now, now + lease, limit, kGapReason);
}

void postpone_resyncs(postgres::Session& session, std::span<const PostponedResync> postponed) {
  if (postponed.empty()) return;
  session.execute(sql::repositories_postpone, postgres::column(postponed, &PostponedResync::did),
                  postgres::column(postponed, &PostponedResync::until),
                  postgres::column(postponed, &PostponedResync::is_reserved), kReservedReason);
}

void ask_for_resync(postgres::Session& session, const std::string& did, Timestamp now) {
  session.execute(sql::repositories_ask, did, now);
}

void resync_failed(postgres::Session& session, const std::string& did, const std::string& error,
                   Timestamp now) {
  postgres::Transaction transaction(session);
  const auto attempts = session.query_first<std::int32_t>(sql::repositories_attempts, did,
                                                          postgres::error_text(error));
  if (attempts) session.execute(sql::repositories_retry_at, did, now + resync_delay(*attempts));
  transaction.commit();
}

void resync_of_deleted_done(postgres::Session& session, const std::string& did) {
  session.execute(sql::repositories_deleted, did);
}

bool resync_done(postgres::Session& session, const std::string& did,
                 const atproto::RepositoryHead& head, Timestamp now) {
  const WholeRepository whole{did, head};
  return resyncs_done(session, {&whole, 1}, now).empty();
}

std::vector<std::string> resyncs_done(postgres::Session& session,
                                      std::span<const WholeRepository> whole, Timestamp now) {
  const auto done = session.query<DoneRepository>(
      sql::repositories_done, postgres::column(whole, &WholeRepository::did),
      postgres::column(whole, [](const WholeRepository& one) { return one.head.rev; }),
      postgres::column(
          whole, [](const WholeRepository& one) -> const auto& { return one.head.data.digest; }),
      now, postgres::column(whole, &WholeRepository::filter_version));
  std::vector<std::string> with_gap;
  for (const auto& [did, is_complete] : done) {
    if (!is_complete) with_gap.push_back(did);
  }
  return with_gap;
}

}  // namespace skua::tables
