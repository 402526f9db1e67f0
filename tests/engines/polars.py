# SPDX-License-Identifier: BSD-3-Clause
# Stands in for the module polars, which only PyPI has. It computes nothing: it records the calls of a query, and
# polars.mjs makes the same calls of the real engine, which npm has.


class Call:
    """A call of a function of the module, or of a method of the result of another call."""

    def __init__(self, name, on, arguments, options):
        self.plan = {"call": name, "on": encode(on), "arguments": encode(arguments), "options": encode(options)}

    def __getattr__(self, name):
        return lambda *arguments, **options: Call(name, self, arguments, options)

    def __eq__(self, other):
        return Call("eq", self, (other,), {})

    def __ne__(self, other):
        return Call("neq", self, (other,), {})

    def __truediv__(self, other):
        return Call("div", self, (other,), {})

    __hash__ = None


def encode(value):
    if isinstance(value, Call):
        return value.plan
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {name: encode(item) for name, item in value.items()}
    return value


def __getattr__(name):
    return lambda *arguments, **options: Call(name, None, arguments, options)
