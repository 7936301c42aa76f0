#include "event/label_frame.hpp"

#include <vector>

#include "fuzz/target.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::fuzz {

void run_label_frame(ByteView input) {
  event::LabelFrameDecoder decoder;
  event::DecodedLabelFrame frame;
  if (!decoder.decode(input, frame)) return;
  for (const event::LabelEntry& entry : frame.labels) {
    if (entry.error) continue;
    atproto::Document document;
    require(repo::read_dag_cbor(entry.block, document).has_value(), "a label is DAG-CBOR");
    const std::vector<Bytes> forms = event::signed_forms_of_label(entry.block);
    require(!forms.empty(), "a label has bytes to sign");
    for (const Bytes& form : forms) {
      require(repo::read_dag_cbor(form, document).has_value(),
              "a label without its signature is DAG-CBOR");
      require(!document.root().find("sig"), "a signature does not sign itself");
    }
  }
}

}  // namespace skua::fuzz
