"""`skua run --signal-collection`: the repository of an account that shows up in a collection is downloaded."""

import unittest

from harness import wait_for
from test_sim import SimTest

NOTE = "test.margin.reading.note"
PLOT = "test.kitchen-garden.plot"


class SignalCollection(SimTest):
    def begin(self, database, network, *arguments):
        return self.start([self.binary("skua"), "run", "--relay", network.url, *arguments], {
            **self.environment(database), "SKUA_VERIFY": "full", "SKUA_PLC_URL": network.ready["plc"],
            "SKUA_DNS": network.ready["dns"], "SKUA_ALLOW_PRIVATE_HOSTS": "true", "SKUA_STATS_INTERVAL": "1"})

    def records(self, database):
        """The number of stored records of each account."""
        return {row["did"]: row["count"] for row in database.rows(
            "select did, count(*) from bsky.all_records group by did")}

    def jobs(self, database):
        return {row["did"]: row["state"] for row in database.rows("select did, state from skua.backfill_jobs")}

    def test_an_account_that_shows_up_has_its_older_records(self):
        network = self.still("--hosts", 2, "--oddities", 0, accounts=12, records=600)
        accounts = network.accounts(self.folder / "before")
        # The busiest accounts have many records.
        first, second, third, other = sorted(accounts, key=lambda one: -one["records"])[:4]
        number = {one["did"]: one["records"] for one in accounts}
        database = self.database()
        skua = self.begin(database, network, "--signal-collection", NOTE)
        wait_for("a connection", lambda: network.state()["connections"], alive=[skua])
        network.control("/record", did=other["did"], collection=PLOT)
        network.control("/record", did=first["did"], collection=NOTE)
        wait_for("the records of the first account",
                 lambda: self.records(database).get(first["did"]) == number[first["did"]] + 1, alive=[skua])
        self.assertEqual(self.jobs(database).keys(), {first["did"]})
        self.assertEqual(self.records(database)[other["did"]], 1)

        # With a filter by accounts the account is added to it.
        self.skua(database, "filter", "set", "--did", third["did"])
        shown = "select json_agg(value order by value) from skua.filter"
        wait_for("the filter", lambda: skua.says("stored from now on"), alive=[skua])
        network.control("/record", did=other["did"], collection=PLOT)
        network.control("/record", did=second["did"], collection=NOTE)
        wait_for("the records of the second account",
                 lambda: self.records(database).get(second["did"]) == number[second["did"]] + 1, alive=[skua])
        self.assertEqual(database.value(shown), sorted([second["did"], third["did"]]))
        # The account is followed from now on. The other one is not.
        wait_for("the wider filter", lambda: sum("stored from now on" in line for line in skua.output()) >= 2,
                 alive=[skua])
        network.control("/record", did=other["did"], collection=PLOT)
        network.control("/record", did=second["did"], collection=PLOT)
        wait_for("another record of the second account",
                 lambda: self.records(database).get(second["did"]) == number[second["did"]] + 2, alive=[skua])
        self.assertEqual(self.records(database)[other["did"]], 1)
        self.assertEqual(self.jobs(database).keys(), {first["did"], second["did"]})
        self.assertEqual(skua.stop(), 0, skua.tail())


if __name__ == "__main__":
    unittest.main()
