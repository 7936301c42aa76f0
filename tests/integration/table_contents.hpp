#pragma once

#include <set>
#include <string>

#include "postgres/session.hpp"

namespace skua::test {

/// The rows of all tables of `bsky` and of all projections, in names that do not depend on the
/// order of the events: a line for each row, with its table and its columns as JSON. Without
/// null columns, and without these, which depend on the order:
///
/// - numbers of accounts and collections: they are given out in the order of arrival. Lines have
///   the DID and the NSID.
/// - `indexed_at`: the time at which Skua wrote the row.
/// - `handle_check_due`, `handle_lookups_charged_to`: times of this process's look-ups.
/// - stubs: rows of posts without content. A record that refers to an unknown post adds one, which
///   nothing removes. A batch that contains the record and its delete adds none.
/// - deleted posts up to the minimum revision of their account. A post that comes after the
/// deletion
///   of its account is ignored and leaves no mark.
/// - counts of zero, for the same reason.
std::set<std::string> table_contents(postgres::Session& session);

}  // namespace skua::test
