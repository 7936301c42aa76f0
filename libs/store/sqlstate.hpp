#pragma once

#include <string_view>

namespace skua::store {

/// sequence_generator_limit_exceeded: the sequence is exhausted.
inline constexpr std::string_view kSequenceExhausted = "2200H";
/// unique_violation: a row with this key exists already.
inline constexpr std::string_view kUniqueViolation = "23505";
/// insufficient_privilege.
inline constexpr std::string_view kInsufficientPrivilege = "42501";
/// out_of_memory in shared memory: the lock table is full.
inline constexpr std::string_view kOutOfMemory = "53200";
/// read_only_sql_transaction.
inline constexpr std::string_view kReadOnly = "25006";
/// disk_full.
inline constexpr std::string_view kDiskFull = "53100";
/// too_many_connections.
inline constexpr std::string_view kTooManyConnections = "53300";
/// serialization_failure: a row changed after the snapshot of the transaction.
inline constexpr std::string_view kSerializationFailure = "40001";
/// query_canceled: by a session, or after `statement_timeout`.
inline constexpr std::string_view kQueryCanceled = "57014";
/// lock_not_available: a lock was not free within `lock_timeout`.
inline constexpr std::string_view kLockNotAvailable = "55P03";

}  // namespace skua::store
