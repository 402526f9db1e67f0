# SPDX-License-Identifier: BSD-3-Clause
# usage: serve_openapi.py OPENAPI: checks the structure of an OpenAPI 3.1 description, by the parts of the specification that
# it uses; every reference leads somewhere, and nothing is described that is not used
import json, re, sys
import jsonschema

TEXT = {"type": "string", "minLength": 1}
SCHEMA = {"type": ["object", "boolean"]}
CONTENT = {"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^[a-z]+/[a-z0-9.+-]+$"},
           "additionalProperties": {"type": "object", "required": ["schema"], "properties": {"schema": SCHEMA},
                                    "additionalProperties": False}}
PARAMETER = {"type": "object", "required": ["name", "in", "schema"], "additionalProperties": False,
             "properties": {"name": TEXT, "in": {"enum": ["path", "query", "header"]}, "required": {"type": "boolean"},
                            "description": TEXT, "schema": SCHEMA},
             "if": {"properties": {"in": {"const": "path"}}}, "then": {"required": ["required"], "properties": {"required": {"const": True}}}}
RESPONSE = {"type": "object", "required": ["description"], "additionalProperties": False,
            "properties": {"description": TEXT, "content": CONTENT}}
OPERATION = {"type": "object", "required": ["summary", "responses"], "additionalProperties": False,
             "properties": {"summary": TEXT, "description": TEXT, "operationId": TEXT,
                            "parameters": {"type": "array", "items": PARAMETER},
                            "requestBody": {"type": "object", "required": ["content"], "additionalProperties": False,
                                            "properties": {"description": TEXT, "required": {"type": "boolean"}, "content": CONTENT}},
                            "responses": {"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^([1-5][0-9][0-9]|[1-5]XX|default)$"},
                                          "additionalProperties": RESPONSE}}}
DOCUMENT = {"type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": False,
            "properties": {"openapi": {"pattern": "^3\\.1\\.[0-9]+$"},
                           "info": {"type": "object", "required": ["title", "version"]},
                           "servers": {"type": "array", "items": {"type": "object", "required": ["url"]}},
                           "paths": {"type": "object", "propertyNames": {"pattern": "^/"},
                                     "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": False,
                                                              "properties": {"get": OPERATION, "post": OPERATION}}},
                           "components": {"type": "object", "additionalProperties": False,
                                          "properties": {"schemas": {"type": "object", "additionalProperties": SCHEMA},
                                                         "securitySchemes": {"type": "object"}}},
                           "security": {"type": "array", "items": {"type": "object"}}}}

def walk(value, place="#"):
    yield place, value
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from walk(part, f"{place}/{key}")

def check(api):
    """Yields what is wrong."""
    for error in jsonschema.Draft202012Validator(DOCUMENT).iter_errors(api):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    schemas = api["components"]["schemas"]
    used = set()
    for place, value in walk(api):
        reference = value.get("$ref") if isinstance(value, dict) else None
        if reference is None:
            continue
        name = re.fullmatch(r"#/components/schemas/([A-Za-z0-9_]+)", str(reference))
        if not name or name[1] not in schemas:
            yield f"{place}: {reference} leads nowhere"
        else:
            used.add(name[1])
    for name in sorted(set(schemas) - used):
        yield f"components/schemas/{name} is not used"
    for name, schema in schemas.items():
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            yield f"components/schemas/{name}: {error.message[:200]}"
    # A misspelled keyword of a schema is valid, and checks nothing.
    keywords = {"type", "required", "properties", "additionalProperties", "items", "enum", "const", "oneOf", "anyOf", "allOf", "$ref",
                "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "description", "prefixItems", "format"}
    def schema_faults(place, schema):
        if not isinstance(schema, dict):
            return
        for key in schema.keys() - keywords:
            yield f"{place}: unknown keyword {key}"
        for name in set(schema.get("required", [])) - set(schema.get("properties", {})):
            yield f"{place}: {name} is required, but not described"
        for name, part in schema.get("properties", {}).items():
            yield from schema_faults(f"{place}/{name}", part)
        for key in ("items", "additionalProperties"):
            yield from schema_faults(f"{place}/{key}", schema.get(key))
        for key in ("oneOf", "anyOf", "allOf", "prefixItems"):
            for i, part in enumerate(schema.get(key, [])):
                yield from schema_faults(f"{place}/{key}/{i}", part)
    for place, value in walk(api["paths"], "paths"):
        if place.endswith("/schema"):
            yield from schema_faults(place, value)
    for name, schema in schemas.items():
        yield from schema_faults(name, schema)
    ids, shapes = {}, {}
    for path, operations in api["paths"].items():
        shape = re.sub(r"\{[^}]*\}", "{}", path)
        if shapes.setdefault(shape, path) != path:
            yield f"{path} and {shapes[shape]} are the same path"
        wanted = re.findall(r"\{([^}]*)\}", path)
        for method, operation in operations.items():
            name = f"{method} {path}"
            parameters = [(p.get("in"), p.get("name")) for p in operation.get("parameters", [])]
            if sorted(n for place, n in parameters if place == "path") != sorted(wanted):
                yield f"{name}: the parameters of the path are not those that are described"
            if len(set(parameters)) != len(parameters):
                yield f"{name}: a parameter is described twice"
            if not any(re.match("[23]", status) for status in operation.get("responses", {})):
                yield f"{name}: no good answer is described"
            if method == "post" and "requestBody" not in operation:
                yield f"{name}: the body is not described"
            if method == "get" and "requestBody" in operation:
                yield f"{name}: GET requests have no body"
            identifier = operation.get("operationId")
            if identifier and ids.setdefault(identifier, name) != name:
                yield f"{name} and {ids[identifier]} have the same operationId"
    for requirement in api.get("security", []):
        for scheme in requirement.keys() - api["components"].get("securitySchemes", {}).keys():
            yield f"security: {scheme} is not described"

def self_test(api):
    """Each of these damages must be found."""
    def damaged(change):
        copy = json.loads(json.dumps(api))
        change(copy)
        return list(check(copy))
    first = next(p for p in api["paths"] if "{" in p)
    def twice(copy):
        for path in list(copy["paths"])[:2]: copy["paths"][path]["get"]["operationId"] = "same"
    damages = {
        "reference": lambda c: c["paths"][first]["get"]["responses"]["200"].update(content={"application/json": {"schema": {"$ref": "#/components/schemas/nothing"}}}),
        "responses": lambda c: c["paths"][first]["get"].pop("responses"),
        "parameter": lambda c: c["paths"][first]["get"].update(parameters=[]),
        "unused": lambda c: c["components"]["schemas"].update(unused={}),
        "operationId": twice,
        "path": lambda c: c["paths"].update({re.sub(r"\{[^}]*\}", "{other}", first): c["paths"][first]}),
        "keyword": lambda c: c["components"]["schemas"]["error"].update(propertys={}),
        "required": lambda c: c["components"]["schemas"]["error"].update(required=["nothing"]),
        "version": lambda c: c.update(openapi="2.0"),
        "body": lambda c: c["paths"][first].update(post=c["paths"][first]["get"]),
        "type": lambda c: c["components"]["schemas"].update(error={"type": "nothing"}),
    }
    for name, change in damages.items():
        if not damaged(change):
            yield f"a damage is not found: {name}"

api = json.load(open(sys.argv[1]))
faults = list(check(api)) + list(self_test(api))
if faults:
    sys.exit("\n".join(faults))
