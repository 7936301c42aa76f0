#pragma once

#include <array>
#include <string>
#include <string_view>

namespace skua {

/// A state of the program or of its environment that a person must correct. Log lines, reasons of
/// `/health/ready` and findings of `skua doctor` name a problem by its code. `skua help CODE` and
/// docs/problems.md explain the problem.
struct Problem {
  /// The code is in lower case with hyphens, such as `database-down`. It does not change between
  /// versions.
  std::string_view code;
  /// The fault, as a clause without a full stop.
  std::string_view title;
  /// The cause, and the behaviour of Skua until the problem is solved.
  std::string_view cause;
  /// The action that the operator must take.
  std::string_view cure;
};

/// All problems: first those of PostgreSQL, then those of the sources, then those of the data.
inline constexpr std::array kProblems{
    Problem{"not-configured", "a setting is missing",
            "A command needs a database or a source, and no flag, variable or file names it.",
            "Set it as docs/settings.md says."},
    Problem{
        "database-down", "PostgreSQL cannot be reached, or does not answer",
        "The server is stopped or overloaded, its address is wrong, or the network is cut. Skua "
        "keeps its position, retries, and loses nothing.",
        "Start PostgreSQL. If it runs, check the address in `SKUA_DATABASE_URL`, and the "
        "server's log."},
    Problem{"database-read-only", "PostgreSQL is read-only",
            "The server is a standby. Skua retries.",
            "Point `SKUA_DATABASE_URL` to the primary, or promote the standby (`pg_ctl promote`)."},
    Problem{
        "standby-behind", "a standby is behind its primary",
        "The standby has lost its connection to the primary, or it applies the WAL slowly. With "
        "`max_standby_streaming_delay` it also waits for long queries. Answers lack the latest "
        "records.",
        "Check the standby: `select * from pg_stat_wal_receiver` has a row while it is "
        "connected. On the primary `pg_stat_replication` shows the lag of each standby."},
    Problem{
        "tables-divided", "tables of records are partitioned or distributed",
        "Skua reads its tables by their blocks. A partitioned or distributed table has none, so "
        "retention, checks and backfills would leave out rows. Commands that write refuse such a "
        "database.",
        "Connect to a database whose tables `skua migrate` made. Commands that only read work "
        "with tables of any layout."},
    Problem{
        "node-failed", "a node of the query database cannot answer",
        "The database of the node cannot be reached, or it has another schema, other groups or "
        "another key. Questions that need its accounts fail.",
        "The finding names the reason. Start the server of the node, or run `skua migrate` with "
        "the database of the node and then with the query database."},
    Problem{"groups-missing", "no node owns some groups of accounts",
            "Answers of the query database miss the accounts of these groups.",
            "Add a node that owns them: `skua nodes add NODE --node-url URL --groups GROUPS`."},
    Problem{
        "disk-full", "PostgreSQL has no space left on its disk",
        "The data or the WAL fills the disk. Skua retries and loses nothing.",
        "Free space or enlarge the disk. `skua status` shows the size of each table; a replication "
        "slot without a reader keeps WAL (`select * from pg_replication_slots`)."},
    Problem{"disk-low", "the disk of PostgreSQL is almost full",
            "The data or the WAL grows. When the disk is full, Skua waits.",
            "Free space or enlarge the disk, or set a retention (`skua retention set`). `skua "
            "status` shows the size of each table."},
    Problem{"replication-slot", "a replication slot keeps WAL",
            "Its reader is stopped or slow. The server keeps the WAL that the reader has not "
            "read, until the disk is full.",
            "Start the reader, or drop the slot: `select pg_drop_replication_slot('NAME')`."},
    Problem{
        "lock-table-full", "PostgreSQL's lock table is too small",
        "A batch takes a lock for each account. `max_locks_per_transaction` times "
        "`max_connections` is the number of locks of the server.",
        "Set `max_locks_per_transaction = 256` in postgresql.conf, or double it if it is 256 or "
        "more, and restart the server."},
    Problem{"connections-full", "PostgreSQL has too few connections",
            "Each process of Skua uses about 40 connections.",
            "Set `max_connections` to 40 for each process of Skua plus the connections of other "
            "programs, at least 100, and restart the server. `select application_name, count(*) "
            "from pg_stat_activity group by 1` shows the connections of each program."},
    Problem{
        "connection-pooler", "a connection pooler in transaction mode is in use",
        "Advisory locks and prepared statements belong to a session, and the pooler changes the "
        "session between transactions.",
        "Connect to PostgreSQL directly, or set `pool_mode = session` in PgBouncer."},
    Problem{"server-version", "the version of PostgreSQL is not supported",
            "Skua needs PostgreSQL 14 or later with the encoding UTF8.",
            "Upgrade the server. For another encoding create the database again: "
            "`create database skua encoding 'UTF8' template template0`."},
    Problem{"unsafe-server", "PostgreSQL is not safe against a crash",
            "`fsync` or `full_page_writes` is off. A crash can destroy the database.",
            "Turn both on. If the database may be lost, use `--allow-unsafe-database`."},
    Problem{"server-settings", "settings of PostgreSQL can be improved",
            "The server has default values, which suit small databases. Skua works, but slower.",
            "Change them as \"Your own PostgreSQL\" in docs/install.md says."},
    Problem{
        "role-rights", "the role lacks rights",
        "The role of `SKUA_DATABASE_URL` may not read or write tables of Skua, or only their owner "
        "may run the command. Skua stops when it needs the right.",
        "Connect as the owner of the tables. For `skua run`, `skua backfill` and `skua serve` a "
        "member of the role skua_writer is sufficient: `grant skua_writer to NAME`."},
    Problem{"reader-role", "the role skua_reader is missing or lacks rights",
            "The role that migrated the database may not create roles, or rights were revoked. "
            "Indexing works; people who query need the role.",
            "As a superuser run `create role skua_reader nologin`. Then run `select "
            "skua.grant_reader()` in the database."},
    Problem{"schema-old", "the schema of the database is older than this program",
            "Migrations of this version have not run.", "Run `skua migrate`."},
    Problem{"schema-new", "the schema of the database is newer than this program",
            "A newer version of Skua has migrated the database.",
            "Install that version on this machine, too."},
    Problem{"schema-other", "the schema of the database was made by other migrations",
            "A migration is missing, or its text differs from the one in this program.",
            "Use the version of Skua that made the database, or an empty database."},
    Problem{
        "index-invalid", "an index is invalid",
        "The building of an index was interrupted. Queries do not use it, but writes maintain it.",
        "Run `reindex index concurrently NAME`, or drop the index if it is not from Skua."},
    Problem{
        "index-missing", "an index of the schema is missing",
        "It was dropped, or a bootstrap has not finished. Queries and writes are slow.",
        "Finish the bootstrap (`skua backfill`), or create the index as `docs/schema.md` and the "
        "files in `schema` say."},
    Problem{"clock-wrong", "the clocks of this machine and of PostgreSQL differ",
            "One of the clocks is wrong. Skua uses the later time. A clock that is ahead makes it "
            "accept commits from the future.",
            "Synchronize the clocks of both machines by NTP (`timedatectl set-ntp true`)."},
    Problem{"source-down", "a source cannot be reached",
            "The host is down, its name is wrong or does not resolve, or a firewall refuses the "
            "connection. Skua retries and continues at the cursor.",
            "Check the address and the network. A second `--relay` takes over if one fails."},
    Problem{
        "source-tls", "the TLS certificate of a source is not valid",
        "The certificate has expired, has another name, or is from an unknown authority. The clock "
        "of this machine may be wrong. Skua retries.",
        "Check the clock, and install `ca-certificates`. Otherwise the host must renew its "
        "certificate."},
    Problem{"source-silent", "a source sends nothing",
            "The connection is open, but no message arrives. Skua reconnects by itself.",
            "If it lasts, ask the operator of the source, or add another `--relay`."},
    Problem{
        "source-behind", "the tables lag behind a source",
        "The machine or the disk is too slow for the stream, or Skua reads what it missed while "
        "it was stopped.",
        "Wait if the lag falls. Otherwise look at `skua status`, at the server's log and at "
        "`iostat`; stop a running backfill."},
    Problem{"cursor-old", "no process reads a source that has a cursor",
            "Skua has been stopped for a day or longer. A source keeps its events for some days "
            "only.",
            "Start `skua run` soon. If the source is not needed any more: `skua source forget "
            "NAME`."},
    Problem{
        "cursor-outdated", "a source no longer keeps the events after the cursor",
        "Skua was stopped longer than the source keeps events. It continues at the oldest event; "
        "the events between are missing.",
        "Run `skua backfill`: it downloads the repositories that changed meanwhile."},
    Problem{
        "sequence-reset", "the sequence numbers of a source began again",
        "The source was rebuilt. Skua reads everything that it keeps. Existing rows do not change.",
        "Nothing. If the address of the source is another one now, choose another name for it."},
    Problem{
        "plc-down", "the PLC directory does not answer",
        "The directory or the network is down, or refuses requests. First commits of accounts wait "
        "for their signing key; the events of known accounts continue.",
        "Wait, or set `--plc` to another directory. `skua identity import` stores all keys in "
        "advance."},
    Problem{"dns-failed", "a name does not resolve",
            "The resolver of this machine is down, or has no such name.",
            "Check `/etc/resolv.conf` and the name in the setting."},
    Problem{"collection-quiet", "a collection has gone quiet",
            "Events of a collection stopped while others continue. The source or a decoder leaves "
            "them out, or the filter was changed.",
            "Compare with another source, and look at the dead letters and at `skua filter show`."},
    Problem{"change-log-large", "the change log is near its limit",
            "Consumers lag, or there are many changes. Beyond the limit Skua drops the oldest "
            "changes, and consumers that have not read them stop.",
            "Look at `skua consumers list`. If there is space, increase "
            "`skua.change_log_state.max_bytes`."},
    Problem{"dead-letters", "there are dead letters",
            "Input could not be stored as rows. It is kept with its reason.",
            "List them (`skua dead-letters list`), and replay them after an upgrade (`skua "
            "dead-letters replay`)."},
    Problem{"account-cut-off", "the events of an account are refused for a time",
            "The account or its host sends more than its share, or commits that fail their checks. "
            "Other accounts are not affected. Skua downloads the repository later.",
            "Nothing. To refuse an account for good: `skua filter exclude --did DID`."},
    Problem{
        "consumer-stuck", "a consumer does not advance",
        "Its receiver or a change fails for two minutes or longer, or a change failed so often "
        "that it stopped the consumer or a lane. Other causes: no process serves the consumer, "
        "it was paused, or the log dropped changes that it had not read. The log keeps the others "
        "for it up to its maximum size.",
        "`skua consumers status NAME` prints the reason and what to do. \"Consumers that do not "
        "advance\" in docs/problems.md lists all reasons."},
    Problem{"consumer-behind", "a consumer lags behind the change log",
            "It is catching up, there are more changes than it or its receiver processes, or no "
            "program fetches the changes of a pull consumer.",
            "Wait if the lag falls. Otherwise add lanes or a larger batch (docs/feeds.md), or "
            "start the program that fetches the changes."},
    Problem{"former-tables", "former tables of a projection cannot be dropped",
            "A view of a user reads tables that a rebuild has replaced, or that belong to a "
            "projection that was removed. The projection works, and the tables use disk space.",
            "Drop the view, or let it read the views of the schema bsky. `skua consumers list` "
            "names it. Skua then drops the tables by itself."},
    Problem{
        "messages-waiting", "own messages are not moved to the change log",
        "No process moves them, or it fails. Consumers do not get them. When the inbox is full, "
        "`skua.enqueue` refuses further messages.",
        "Start `skua run`, or `skua serve` with a role that may write. If one runs, look for "
        "\"messages are not moved\" in its log."},
    Problem{"lease-stuck", "a lease has ended and nobody has taken it",
            "The process that owned it was killed, and no other one runs.",
            "Start `skua backfill`, `skua run` or `skua serve` again: it continues the work."},
    Problem{"bootstrap-open", "a bootstrap is open",
            "`skua backfill --bootstrap` has not finished. Most indexes are missing.",
            "Run `skua backfill` until it finishes."},
    Problem{"partial-repositories", "many repositories are not complete",
            "Skua began to read in the middle of their history, or missed commits.",
            "Run `skua backfill` to download them."},
    Problem{"check-failed", "a check of `skua doctor` failed",
            "The role may not read a table, the answer took too long, or the connection ended.",
            "Look at the reason. Run `skua doctor` again, as the role that owns the database."},
};

/// Returns the problem with this code. A code that is not in the list does not compile.
consteval const Problem& problem(std::string_view code) {
  for (const Problem& each : kProblems) {
    if (each.code == code) return each;
  }
  throw "no problem has this code";
}

/// Returns the problem with this code, or null if there is none.
const Problem* find_problem(std::string_view code);

/// Appends the code to the detail, for a log line: `the server is stopped [database-down]`.
std::string with_code(std::string_view detail, const Problem& problem);

}  // namespace skua
