#include "documents/did_document.hpp"

#include <string>

#include "fuzz/target.hpp"

namespace skua::fuzz {

void run_did_document(ByteView input) {
  const auto document =
      documents::parse_did_document(as_text(input), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  if (!document) return;
  for (const auto& origin : {document->pds, document->labeler}) {
    require(origin.empty() || documents::pds_origin(origin) == Result<std::string>(origin),
            "the origin of a host is one");
  }
  require(document->label_key || (document->key && !document->pds.empty()),
          "an account has a repository, or labels others");
  require(document->handle.empty() ||
              documents::handle_of_alias("at://" + document->handle) == document->handle,
          "a handle stays one when it is read again");
}

}  // namespace skua::fuzz
