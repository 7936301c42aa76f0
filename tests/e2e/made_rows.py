"""The base of tests whose made network becomes rows, with the projections of rules and notifications."""

import atproto
import made
from harness import EndToEnd


class MadeRows(EndToEnd):
    def setUp(self):
        super().setUp()
        self.db = self.database()
        for name in ("post_rules", "notifications"):
            self.skua(self.db, "consumers", "add", name)
        self.skua(self.db, "consumers", "run-until-idle")
        self.network = made.Network()
        self.sent = 0

    def store(self):
        """Stores the frames since the last call."""
        file = self.folder / "frames"
        file.write_bytes(atproto.write_capture(self.network.frames[self.sent:]))
        self.sent = len(self.network.frames)
        self.skua(self.db, "replay", file)
        self.skua(self.db, "consumers", "run-until-idle")
