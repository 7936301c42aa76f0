#include "backfill/letters/replay_letter.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/syntax.hpp"
#include "backfill/queue/job_commands.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/bytes.hpp"
#include "tables/repository_table.hpp"
#include "writer/dead_letter.hpp"

namespace skua::backfill {

namespace {

using tables::LetterRow;

constexpr const char* kLostLease = "another process took the letter over meanwhile";

/// The replay of one leased letter.
class LetterReplay {
 public:
  LetterReplay(const ReplayServices& services, const LetterRow& letter, const std::string& owner)
      : services_(services), letter_(letter), owner_(owner) {}

  ReplayedLetter run() {
    if (letter_.operation == "label") {
      return release("labels cannot be replayed; read the labeler again with --cursor");
    }
    if (!atproto::is_did(letter_.did)) return release("the account is not known");
    if (is_excluded()) return resolve("the filter excludes it", false);
    const Bytes payload = tables::read_letter_payload(services_.session, letter_.id);
    if (!writer::has_record(letter_, payload)) return resolve("", true);
    const writer::ReplayedRecord replayed = writer::replay_record(
        services_.session, services_.ids, services_.clock, services_.lexicons, letter_, payload);
    if (!replayed.error.empty()) return fail(replayed);
    const char* note = replayed.rows > 0 ? "written" : "what is stored is not older";
    return resolve(note, letter_.operation != "delete" && (replayed.rows == 0 || !is_newest()));
  }

  /// Ends the lease after an error of the server, if the server answers again.
  void give_back() noexcept {
    try {
      tables::release_replay(services_.session, letter_.id, owner_);
    } catch (const std::exception&) {
      // The lease expires later.
    }
  }

 private:
  bool is_excluded() const {
    if (!services_.filter.passes_did(letter_.did)) return true;
    if (!letter_.path) return false;
    const std::string_view path = *letter_.path;
    return !services_.filter.passes_collection(path.substr(0, path.find('/')));
  }

  /// Whether no later commit of the repository is known. Deletes that the saved head does not
  /// include have tombstones.
  bool is_newest() const {
    const auto rows = tables::load_repositories(services_.session, std::array{letter_.did});
    return !rows.empty() && rows[0].head &&
           rows[0].head->rev.value <= static_cast<std::uint64_t>(*letter_.rev);
  }

  ReplayedLetter resolve(std::string note, bool with_resync) {
    postgres::Session& session = services_.session;
    ReplayedLetter outcome;
    postgres::Transaction transaction(session);
    if (with_resync) {
      add_jobs(session, std::array{NewJob{.did = letter_.did}}, Again::Yes, services_.clock.now());
      const auto jobs = read_jobs(session, std::array{letter_.did});
      if (!jobs.empty() && jobs[0].state == JobState::Running) {
        // The job may have requested the repository before the commit of the letter.
        ReplayedLetter later =
            release("a job of the account runs; replay the letter when it has ended");
        transaction.commit();
        return later;
      }
      if (!note.empty()) note += "; ";
      note += "a resync of the account is queued";
      outcome.resync = letter_.did;
    }
    if (!tables::resolve_replay(session, letter_.id, owner_, note)) {
      return {ReplayEnd::NotDead, kLostLease, std::nullopt};
    }
    transaction.commit();
    outcome.end = ReplayEnd::Resolved;
    outcome.text = std::move(note);
    return outcome;
  }

  ReplayedLetter fail(const writer::ReplayedRecord& replayed) {
    const bool is_ours = tables::fail_replay(services_.session, letter_.id, owner_, replayed.error,
                                             replayed.sqlstate);
    if (!is_ours) return {ReplayEnd::NotDead, kLostLease, std::nullopt};
    return {ReplayEnd::Failed, replayed.error, std::nullopt};
  }

  ReplayedLetter release(std::string reason) {
    tables::release_replay(services_.session, letter_.id, owner_);
    return {ReplayEnd::Impossible, std::move(reason), std::nullopt};
  }

  const ReplayServices& services_;
  const LetterRow& letter_;
  const std::string& owner_;
};

std::string state_text(postgres::Session& session, std::int64_t id) {
  const auto rows = tables::list_letters(session, {.ids = {id}}, 1);
  if (rows.empty()) return "there is no such letter";
  std::string text(tables::to_string(rows[0].status));
  if (rows[0].lease_owner) text += " by " + *rows[0].lease_owner;
  return text;
}

}  // namespace

LetterReplays::LetterReplays(postgres::Session& session, std::string owner)
    : session_(session),
      lease_{.owner = std::move(owner)},
      clock_(system_clock()),
      filter_(tables::load_filter(session)),
      ids_(std::make_unique<ids::SharedIds>()),
      lexicons_(monotonic_clock()) {
  clock_.compare(session);
}

ReplayedLetter LetterReplays::replay(std::int64_t id) {
  return replay_letter({session_, *ids_, clock_, lexicons_, *filter_}, id, lease_);
}

std::string_view to_string(ReplayEnd end) {
  switch (end) {
    case ReplayEnd::Resolved:
      return "resolved";
    case ReplayEnd::Requested:
      return "requested";
    case ReplayEnd::Failed:
      return "failed again";
    case ReplayEnd::Impossible:
      return "cannot be replayed";
    case ReplayEnd::NotDead:
      return "not replayed";
  }
  return "";
}

ReplayedLetter replay_letter(const ReplayServices& services, std::int64_t id,
                             const tables::ReplayLease& lease) {
  if (tables::request_replay(services.session, id)) {
    return {ReplayEnd::Requested, "its consumer processes it again", std::nullopt};
  }
  const auto letter = tables::lease_letter(services.session, id, lease);
  if (!letter) return {ReplayEnd::NotDead, state_text(services.session, id), std::nullopt};
  LetterReplay replay(services, *letter, lease.owner);
  try {
    return replay.run();
  } catch (const postgres::SqlError&) {
    replay.give_back();
    throw;
  }
}

}  // namespace skua::backfill
