#include "event/label_frame.hpp"

#include "fuzz/target.hpp"
#include "repo/dag_cbor_reader.hpp"

namespace skua::fuzz {

void run_label_frame(ByteView input) {
  event::LabelFrameDecoder decoder;
  event::DecodedLabelFrame frame;
  if (!decoder.decode(input, frame)) return;
  for (const event::LabelEntry& entry : frame.labels) {
    if (entry.error) continue;
    atproto::Document document;
    require(repo::read_dag_cbor(entry.block, document).has_value(), "a label is DAG-CBOR");
    const Bytes unsigned_label = event::signed_bytes_of_label(entry.block);
    require(repo::read_dag_cbor(unsigned_label, document).has_value(),
            "a label without its signature is DAG-CBOR");
    require(!document.root().find("sig"), "a signature does not sign itself");
  }
}

}  // namespace skua::fuzz
