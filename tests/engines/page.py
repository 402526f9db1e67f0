# SPDX-License-Identifier: BSD-3-Clause
# page.py PAGE polars|pandas [TABLE]
# Executes the Python code in a section of the page of queries. polars: writes the recorded calls of its results (see
# polars.py) as JSON. pandas: writes the results themselves, computed from TABLE, which DuckDB has read: two lines of
# JSON, the columns with their types, and the rows. No package of Debian has a reader of Parquet for pandas.
import json
import re
import sys


def section_code(page, title):
    text = open(page, encoding="utf-8").read()
    section = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % title, text, re.M | re.S).group(1)
    code = "".join(re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S))
    assert code, title
    return compile(code, "%s: %s" % (page, title), "exec")


def run_polars(page):
    import polars
    names = {}
    exec(section_code(page, "Polars"), names)
    return {name: value.plan for name, value in names.items()
            if isinstance(value, polars.Call) and value.plan["call"] == "collect"}


# The types that pandas has by default after reading Parquet: numbers with nulls are floats, partitions are categories.
def read_table(path):
    import pandas
    columns, rows = (json.loads(line) for line in open(path, encoding="utf-8"))
    table = pandas.DataFrame(rows, columns=[column["column_name"] for column in columns])
    for column in columns:
        name, series = column["column_name"], table[column["column_name"]]
        if "INT" in column["column_type"]:
            table[name] = series.astype(float) if series.isna().any() else series.astype("int64")
        if name in ("rank", "slice"):
            table[name] = table[name].astype("category")
    return table


def run_pandas(page, path):
    import pandas
    names = {}
    read = []
    pandas.read_parquet = lambda directory: read.append(directory) or read_table(path)
    exec(section_code(page, "pandas"), names)
    assert read == ["run.parquet/activities"], read
    return {name: json.loads(value.reset_index().to_json(orient="records"))
            for name, value in names.items() if isinstance(value, (pandas.DataFrame, pandas.Series)) and len(value) < 1000}


json.dump(run_polars(sys.argv[1]) if sys.argv[2] == "polars" else run_pandas(sys.argv[1], sys.argv[3]), sys.stdout)
