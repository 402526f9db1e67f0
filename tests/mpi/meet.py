# SPDX-License-Identifier: BSD-3-Clause
"""Checks a trace of meet.c with 2 ranks on each host that was converted to SQLite."""


def check(db, *hosts):
    """All ranks are there, on these hosts, and on one time line: calls that wait for all ranks overlap."""
    ranks = db.execute("SELECT rank, ranks, host FROM processes WHERE rank >= 0 ORDER BY rank").fetchall()
    size = 2 * len(hosts)
    assert ranks == [(rank, size, hosts[rank // 2]) for rank in range(size)], ranks
    met = db.execute("""SELECT k.name, a.collective, count(*), max(a.start_ns), min(a.start_ns + a.duration_ns)
        FROM activities a JOIN calls k ON k.number = a.call WHERE k.layer = 'MPI'
        AND k.name IN ('MPI_Init', 'MPI_Finalize', 'MPI_File_open') GROUP BY 1, 2""").fetchall()
    assert len(met) == 2 + 5, met
    # The clocks of two hosts that are not the reference may differ by the errors of both.
    errors = sorted(e for e, in db.execute("SELECT error_ns FROM hosts WHERE method != 'reference'"))
    slack = sum(errors[-2:]) if len(hosts) > 2 else 0
    for name, collective, n, enter, leave in met:
        assert n == size, (name, collective, n)
        assert enter <= leave + slack, (name, collective, "no moment at which all ranks are in it")
