"""Hooks of schemathesis: what the headers of its command line cannot say."""

import random

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # Failed authentications are limited by address, and most of these calls are meant to fail.
    address = ".".join(str(random.randrange(1, 255)) for _ in range(3))
    case.headers["X-Forwarded-For"] = f"10.{address}"
