"""Workers of the convention's Python client: the one of docs/guides/python.md, or as VARIANT says another."""

import os
import time

import psycopg
from pg_tasks import Task, Worker

URL = os.environ["DATABASE_URL"]


class PackParcel(Task):
    def run(self, id, created_at, parcel_id, run_token, **rest):
        with psycopg.connect(URL) as connection:      # one transaction for the work and the finish
            connection.execute("insert into packed values (%s, 'python')", (parcel_id,))
            connection.execute("select tasks.finish_tasks_pack_parcel(%s, run_token => %s)", (id, run_token))


class FinishesItself(Task):
    table = "pack_parcel"

    def run(self, id, created_at, parcel_id, **rest):
        with psycopg.connect(URL) as connection:
            connection.execute("insert into packed values (%s, 'python')", (parcel_id,))
            self.finish(connection, id, created_at, "packed by python")


class Hangs(Task):
    table = "pack_parcel"

    def run(self, parcel_id, **rest):
        print(f"runs {parcel_id}", flush=True)
        time.sleep(600)


VARIANTS = {"finishes itself": FinishesItself, "hangs": Hangs}

worker = Worker(URL)
worker.add(VARIANTS.get(os.environ.get("VARIANT"), PackParcel)(), 2)
print("ready", flush=True)
worker.run()
