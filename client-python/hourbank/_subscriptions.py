from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._response import require_data
from .types import Subscription, SubscriptionWithSecret


class CreatedSubscription(SubscriptionWithSecret):
    #: Accepted, but not emitted yet.
    unknown_event_types: list[str]


class ChangedSubscription(Subscription):
    #: Accepted, but not emitted yet.
    unknown_event_types: list[str]


def with_unknown_types(name: str, body: Mapping[str, Any]) -> dict[str, Any]:
    meta = body.get("meta") or {}
    return {**require_data(name, body), "unknown_event_types": meta.get("unknown_event_types", [])}
