#include "identity/did_document.hpp"

#include "fuzz/target.hpp"

namespace skua::fuzz {

void run_did_document(ByteView input) {
  const auto document =
      identity::parse_did_document(as_text(input), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  if (!document) return;
  const auto origin = identity::pds_origin(document->pds);
  require(origin && *origin == document->pds, "the origin of a PDS is one");
  require(document->handle.empty() ||
              identity::handle_of_alias("at://" + document->handle) == document->handle,
          "a handle stays one when it is read again");
}

}  // namespace skua::fuzz
