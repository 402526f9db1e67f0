# SPDX-License-Identifier: BSD-3-Clause
# usage: serve_schema.py OPENAPI PATH ANSWER: validates the answer to a request for a path of the API
import json, re, sys
import jsonschema

api = json.load(open(sys.argv[1]))
path = sys.argv[2].split("?")[0].removeprefix("/api/v1")
found = [p for p in api["paths"] if re.fullmatch(re.sub(r"\{[a-z]+\}", "[^/]+", p), path)]
if len(found) != 1:
    sys.exit(f"{path}: {len(found)} paths of the description match")
schema = api["paths"][found[0]]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
jsonschema.validate(json.load(open(sys.argv[3])), {**schema, "components": api["components"]},
                    cls=jsonschema.Draft202012Validator)
