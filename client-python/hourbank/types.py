# Made from openapi.json by `npm run openapi`; not to be edited.
from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypedDict, Union

from typing_extensions import NotRequired


class AcceptedCredit(TypedDict):
    reference: str
    #: replayed: the credit already existed
    result: Literal["created", "replayed"]
    credit: CreditAnswer


class Attempt(TypedDict):
    number: int
    at: str
    duration_ms: int
    #: Status of the HTTP response
    status: Union[int, None]
    error_kind: Union[Literal["dns", "connect", "tls", "timeout", "status", "refused_address"], str, None]
    error: Union[str, None]
    #: Its first 1000 characters. Of a success, only while no later one follows
    response: Union[str, None]


class Balance(TypedDict):
    user_id: int
    balance_hours: float
    #: When the balance last changed
    as_of: str


class BalanceChange(TypedDict):
    user_id: int
    balance_hours: float
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: int


BatchedCredit: TypeAlias = "Union[AcceptedCredit, RejectedCredit]"


class Bucket(TypedDict):
    min: int
    max: int


class CommunityAggregatesFlows(TypedDict):
    #: Exchanges between members, without reversed ones
    exchanges: Flow
    #: Whole hours, rounded down
    hours_exchanged: Flow
    #: Credited by partners, in whole hours, rounded down. The credits of a partner count in the period in which they concern enough members.
    hours_credited: Flow
    #: Distinct members of the period. A member who trades in several periods counts in each, and so in the total.
    trading_members: Flow
    #: Members recorded
    new_members: Flow


class CommunityAggregatesStocksListingsByCategory(TypedDict):
    category: str
    figure: Figure


class CommunityAggregatesStocks(TypedDict):
    active_members: Figure
    active_services: Figure
    active_requests: Figure
    listings_by_category: list[CommunityAggregatesStocksListingsByCategory]


class CommunityAggregates(TypedDict):
    #: The last closed month; its figures no longer change
    closed_through: Union[str, None]
    closed_at: Union[str, None]
    #: Activity in closed months. Totals are the sums of the published periods.
    flows: CommunityAggregatesFlows
    #: The state that partners could see when a month was last closed after enough members had changed it. Hidden members and their listings are not counted.
    stocks: CommunityAggregatesStocks


class Credit(TypedDict):
    transaction_id: int
    user_id: int
    hours: float
    reference: str
    note: Union[str, None]
    settled_on: Union[str, None]
    status: Literal["completed", "reversed"]
    reversed_at: Union[str, None]
    #: The balance right after this credit; only for tokens with wallet.read
    balance_hours: NotRequired[float]
    created_at: str


class CreditAnswer(TypedDict):
    transaction_id: int
    user_id: int
    hours: float
    reference: str
    note: Union[str, None]
    settled_on: Union[str, None]
    status: Literal["completed", "reversed"]
    reversed_at: Union[str, None]
    #: The balance right after this credit; only for tokens with wallet.read
    balance_hours: NotRequired[float]
    created_at: str
    #: true if the credit already existed, from an earlier call or from an attempt whose response was lost
    replayed: bool


class CreditBatch(TypedDict):
    #: One result per credit, in the order of the request
    data: list[BatchedCredit]
    meta: CreditBatchMeta


class CreditBatchMeta(TypedDict):
    created: int
    replayed: int
    rejected: int


class CreditBatchRequest(TypedDict):
    #: 1 to 1000 credits, executed in this order
    credits: list[CreditRequest]


class CreditRequest(TypedDict):
    #: The member; for a payment, found by its payment_reference
    user_id: int
    #: More than 0, with up to two decimals, up to the limit of the community (1000 unless it chose another)
    hours: float
    #: Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent
    reference: str
    #: For people, up to 500 characters; may differ when sent again
    note: NotRequired[str]
    #: The day on which the bank transfer was settled; at most a day ahead of today in the community
    settled_on: NotRequired[str]


class CreditsMeta(TypedDict):
    limit: int
    has_more: bool
    next_cursor: Union[str, None]
    #: Use it as updated_since (or since) in the next round: no late commit is missed
    synced_until: NotRequired[str]
    #: For the whole selection
    total_count: int
    #: For the whole selection
    total_hours: float


class Delivery(TypedDict):
    id: int
    subscription_id: int
    #: The webhook-id
    event_id: str
    event_type: str
    status: Literal["pending", "held", "delivered", "failed"]
    held_reason: Union[str, None]
    next_attempt_at: Union[str, None]
    created_at: str
    finished_at: Union[str, None]
    #: The newest 10, in the order of their times
    attempts: list[Attempt]


Error: TypeAlias = "Union[ReferenceConflictError, ValidationFailedError, OtherError]"


class Event(TypedDict):
    #: The webhook-id
    id: str
    type: str
    timestamp: str
    data: Any


class EventType(TypedDict):
    name: str
    description: str
    #: Required in addition to webhooks.manage
    scope: Union[str, None]
    #: JSON Schema of data
    schema: Any
    #: Of data
    example: Any


class FieldError(TypedDict):
    code: str
    field: str
    message: str


Figure: TypeAlias = "Union[Bucket, Suppressed]"


class Flow(TypedDict):
    total: Figure
    #: Oldest first. The last one is suppressed until it can be merged with more months; after a year it stays suppressed.
    periods: list[Period]


class Gone(TypedDict):
    id: int
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: int


class Listing(TypedDict):
    id: int
    #: Whether it is offered or requested
    type: Literal["service", "request"]
    title: str
    description: str
    category: str
    #: The expected duration
    hours: Union[float, None]
    user_id: int
    status: Literal["active"]
    created_at: str
    updated_at: str


class Member(TypedDict):
    id: int
    name: str
    #: Only with the scope users.pii; null for a member without one
    email: NotRequired[Union[str, None]]
    status: Literal["active"]
    #: ISO 11649 creditor reference; its check digits catch typing errors
    payment_reference: str
    joined_at: str
    updated_at: str


class OtherError(TypedDict):
    #: A stable code; more may be added
    error: Union[Literal["invalid_request", "unsupported_grant_type", "invalid_scope", "invalid_client", "authentication_required", "invalid_token", "insufficient_scope", "ip_not_allowed", "not_found", "user_not_found", "listing_not_found", "credit_not_found", "subscription_not_found", "delivery_not_found", "method_not_allowed", "request_timeout", "daily_limit_reached", "subscription_limit_reached", "cursor_expired", "resync_required", "payload_too_large", "unsupported_media_type", "misdirected_request", "rate_limited", "headers_too_large", "internal_error", "partner_api_disabled", "overloaded", "unavailable"], str]
    #: For people
    error_description: str
    #: Also in the header Request-Id
    request_id: str


class PageMeta(TypedDict):
    limit: int
    has_more: bool
    next_cursor: Union[str, None]
    #: Use it as updated_since (or since) in the next round: no late commit is missed
    synced_until: NotRequired[str]


Period = TypedDict("Period", {
    #: A calendar month in the community's time zone
    "from": "str",
    #: A calendar month in the community's time zone
    "to": "str",
    "figure": "Figure",
})


class ReferenceConflictError(TypedDict):
    #: A stable code; more may be added
    error: Literal["reference_conflict"]
    #: For people
    error_description: str
    #: Also in the header Request-Id
    request_id: str
    data: Credit


class RejectedCredit(TypedDict):
    reference: str
    #: The error that the same credit gets in a call of its own; more may be added
    result: Union[Literal["user_not_found", "reference_conflict", "daily_limit_reached", "validation_failed"], str]
    #: For people
    error_description: str
    data: NotRequired[Credit]


class Removal(TypedDict):
    type: Literal["user", "listing"]
    #: Id of the member or listing
    id: int
    removed_at: str


class ReplayRequest(TypedDict):
    since: str


class ReplayStarted(TypedDict):
    deliveries: int


class Reversal(TypedDict):
    reference: str
    reversal_reference: str
    #: As it was sent; not stored for an erased member
    reason: Union[str, None]
    reversed_at: str
    credit: Credit
    replayed: bool


class ReverseRequest(TypedDict):
    #: Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent
    reference: str
    #: Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent
    reversal_reference: str
    #: For people, up to 500 characters
    reason: NotRequired[str]


class RevokeRequest(TypedDict):
    token: NotRequired[str]
    #: Ignored: there is only one kind of token
    token_type_hint: NotRequired[str]
    #: Unless HTTP Basic or a client assertion is used
    client_id: NotRequired[str]
    #: Unless HTTP Basic or a client assertion is used
    client_secret: NotRequired[str]
    #: urn:ietf:params:oauth:client-assertion-type:jwt-bearer
    client_assertion_type: NotRequired[str]
    #: Instead of a secret: a JWT signed with the private key of the client (RFC 7523)
    client_assertion: NotRequired[str]


class Subscription(TypedDict):
    id: int
    event_types: list[str]
    target_url: str
    #: The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it
    scopes: list[Union[Literal["users.read", "users.pii", "listings.read", "wallet.read", "wallet.write", "aggregates.read", "webhooks.manage"], str]]
    status: Literal["active", "paused", "disabled"]
    status_reason: Union[str, None]
    status_changed_at: str
    failing_since: Union[str, None]
    last_success_at: Union[str, None]
    created_at: str
    updated_at: str


class SubscriptionChange(TypedDict):
    #: Names, prefix.* or *; see GET /webhooks/event-types
    event_types: NotRequired[list[str]]
    #: An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address
    target_url: NotRequired[str]
    #: active also enables a disabled subscription
    status: NotRequired[Literal["active", "paused"]]


class SubscriptionMeta(TypedDict):
    #: Accepted, but not emitted yet
    unknown_event_types: list[str]


class SubscriptionRequest(TypedDict):
    #: Names, prefix.* or *; see GET /webhooks/event-types
    event_types: list[str]
    #: An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address
    target_url: str


class SubscriptionWithSecret(TypedDict):
    id: int
    event_types: list[str]
    target_url: str
    #: The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it
    scopes: list[Union[Literal["users.read", "users.pii", "listings.read", "wallet.read", "wallet.write", "aggregates.read", "webhooks.manage"], str]]
    status: Literal["active", "paused", "disabled"]
    status_reason: Union[str, None]
    status_changed_at: str
    failing_since: Union[str, None]
    last_success_at: Union[str, None]
    created_at: str
    updated_at: str
    #: The signing key; returned only in this response
    secret: str


class Suppressed(TypedDict):
    #: The figure is below 10, or is based on fewer than ten members, or excludes fewer than ten
    suppressed: bool


class TestSent(TypedDict):
    event_id: str


class Token(TypedDict):
    access_token: str
    token_type: Literal["Bearer"]
    #: Seconds: 3600
    expires_in: int
    #: The granted scopes
    scope: str


class TokenRequest(TypedDict):
    #: client_credentials
    grant_type: NotRequired[str]
    #: Unless HTTP Basic or a client assertion is used
    client_id: NotRequired[str]
    #: Unless HTTP Basic or a client assertion is used
    client_secret: NotRequired[str]
    #: urn:ietf:params:oauth:client-assertion-type:jwt-bearer
    client_assertion_type: NotRequired[str]
    #: Instead of a secret: a JWT signed with the private key of the client (RFC 7523)
    client_assertion: NotRequired[str]
    #: Separated by spaces; if omitted, all scopes of the client. Known scopes: users.read users.pii listings.read wallet.read wallet.write aggregates.read webhooks.manage
    scope: NotRequired[str]


class ValidationFailedError(TypedDict):
    #: A stable code; more may be added
    error: Literal["validation_failed"]
    #: For people
    error_description: str
    #: Also in the header Request-Id
    request_id: str
    #: Every problem found, up to 100
    errors: list[FieldError]


class VersionedListing(TypedDict):
    id: int
    #: Whether it is offered or requested
    type: Literal["service", "request"]
    title: str
    description: str
    category: str
    #: The expected duration
    hours: Union[float, None]
    user_id: int
    status: Literal["active"]
    created_at: str
    updated_at: str
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: int


class VersionedMember(TypedDict):
    id: int
    name: str
    #: Only with the scope users.pii; null for a member without one
    email: NotRequired[Union[str, None]]
    status: Literal["active"]
    #: ISO 11649 creditor reference; its check digits catch typing errors
    payment_reference: str
    joined_at: str
    updated_at: str
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: int


class WalletCredited(TypedDict):
    user_id: int
    balance_hours: NotRequired[float]
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: NotRequired[int]
    transaction_id: NotRequired[int]
    hours: NotRequired[float]
    reference: NotRequired[str]
    note: NotRequired[Union[str, None]]
    settled_on: NotRequired[Union[str, None]]


class WalletReversed(TypedDict):
    user_id: int
    balance_hours: NotRequired[float]
    #: Counts the changes of the resource, so that you can ignore an event that arrives late
    version: NotRequired[int]
    transaction_id: NotRequired[int]
    hours: NotRequired[float]
    reference: NotRequired[str]
    reversal_reference: NotRequired[str]


class ListUsersQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str
    #: Only what changed since this time, ordered by time of change. Start with the synced_until of your last round.
    updated_since: Union[str, datetime]
    #: Only the member with this reference
    payment_reference: str


class ListListingsQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str
    #: Only what changed since this time, ordered by time of change. Start with the synced_until of your last round.
    updated_since: Union[str, datetime]
    #: Whether it is offered or requested
    type: Literal["service", "request"]
    #: Exact name
    category: str
    #: Only listings of this member
    user_id: int
    #: Words in title or description
    q: str


class ListRemovalsQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str
    #: The synced_until of your last round
    since: Union[str, datetime]
    #: Only members, or only listings
    type: Literal["user", "listing"]


class ListCreditsQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str
    #: Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent
    reference: str
    #: Only to this member
    user_id: int
    #: Only completed or only reversed credits
    status: Literal["completed", "reversed"]
    #: Created at this time or later
    created_since: Union[str, datetime]
    #: Created before this time
    created_until: Union[str, datetime]
    #: Settled on this day
    settled_on: Union[str, date]


class ListSubscriptionsQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str


class ListDeliveriesQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str
    #: Only deliveries in this state
    status: Literal["pending", "held", "delivered", "failed"]


class ListEventsQuery(TypedDict, total=False):
    #: Up to 100; 25 if omitted
    limit: int
    #: Continues a list: meta.next_cursor of the previous page, with the same filters
    cursor: str


class WalletCreditedEvent(TypedDict):
    id: str
    type: Literal["wallet.credited"]
    timestamp: str
    data: WalletCredited


class WalletReversedEvent(TypedDict):
    id: str
    type: Literal["wallet.reversed"]
    timestamp: str
    data: WalletReversed


class WalletBalanceChangedEvent(TypedDict):
    id: str
    type: Literal["wallet.balance_changed"]
    timestamp: str
    data: BalanceChange


class UserJoinedEvent(TypedDict):
    id: str
    type: Literal["user.joined"]
    timestamp: str
    data: VersionedMember


class UserUpdatedEvent(TypedDict):
    id: str
    type: Literal["user.updated"]
    timestamp: str
    data: VersionedMember


class UserLeftEvent(TypedDict):
    id: str
    type: Literal["user.left"]
    timestamp: str
    data: Gone


class UserErasedEvent(TypedDict):
    id: str
    type: Literal["user.erased"]
    timestamp: str
    data: Gone


class ListingPublishedEvent(TypedDict):
    id: str
    type: Literal["listing.published"]
    timestamp: str
    data: VersionedListing


class ListingUpdatedEvent(TypedDict):
    id: str
    type: Literal["listing.updated"]
    timestamp: str
    data: VersionedListing


class ListingClosedEvent(TypedDict):
    id: str
    type: Literal["listing.closed"]
    timestamp: str
    data: Gone


class WebhookTestEventData(TypedDict):
    subscription_id: int


class WebhookTestEvent(TypedDict):
    id: str
    type: Literal["webhook.test"]
    timestamp: str
    data: WebhookTestEventData


KnownEvent: TypeAlias = Union[WalletCreditedEvent, WalletReversedEvent, WalletBalanceChangedEvent, UserJoinedEvent, UserUpdatedEvent, UserLeftEvent, UserErasedEvent, ListingPublishedEvent, ListingUpdatedEvent, ListingClosedEvent, WebhookTestEvent]


Scope: TypeAlias = Literal["users.read", "users.pii", "listings.read", "wallet.read", "wallet.write", "aggregates.read", "webhooks.manage"]


ErrorCode: TypeAlias = Literal["reference_conflict", "validation_failed", "invalid_request", "unsupported_grant_type", "invalid_scope", "invalid_client", "authentication_required", "invalid_token", "insufficient_scope", "ip_not_allowed", "not_found", "user_not_found", "listing_not_found", "credit_not_found", "subscription_not_found", "delivery_not_found", "method_not_allowed", "request_timeout", "daily_limit_reached", "subscription_limit_reached", "cursor_expired", "resync_required", "payload_too_large", "unsupported_media_type", "misdirected_request", "rate_limited", "headers_too_large", "internal_error", "partner_api_disabled", "overloaded", "unavailable"]
