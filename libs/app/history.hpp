#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "app/account_source.hpp"
#include "backfill/backfiller.hpp"
#include "base/time.hpp"
#include "identity/txt_lookup.hpp"

namespace skua::app {

/// Finds documents where a source finds identities. The source outlives it.
backfill::FindDocument find_documents(AccountSource& accounts);

/// How repositories are fetched; the rest has good defaults.
backfill::BackfillerOptions backfiller_options(const std::string& database_url,
                                               const std::string& holder, AccountSource* accounts);

struct HistoryOptions {
  std::string database_url;
  /// Who signs for accounts and where they live; null: nothing is verified.
  std::unique_ptr<AccountSource> accounts;
  /// The DNS server that handles are looked up at; nothing: who claims one last has it.
  std::optional<identity::DnsServer> check_handles;
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t reader_threads = 2;
};

/// `skua backfill`: works on the queue of jobs. The composition root: it makes the parts, and stops
/// them in order. Owned and called by one thread; `figures`, `is_idle` and `defect` by any.
class History {
 public:
  /// Throws store::SqlError, or std::runtime_error in words for the user (no schema, lock table too
  /// small).
  History(HistoryOptions options, const Clock& clock);
  ~History();

  void start();
  /// What is under way is given back to the queue. Again is harmless.
  void stop();
  void poke();
  bool is_idle() const;
  backfill::BackfillFigures figures() const;
  /// Why the process must stop; nothing while all is well.
  std::optional<std::string> defect() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
