"""Client assertions (RFC 7523): a client with a key proves itself without a shared secret."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    PrivateKey = Union[ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey, rsa.RSAPrivateKey]

#: Long enough for a slow network, short enough to be worthless afterwards.
ASSERTION_SECONDS = 60
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
UNSUPPORTED = "private_key must be an EC key on P-256, an Ed25519 key or an RSA key, as PEM (PKCS #8) or JWK."


class Signer:
    """Creates the parameters that authenticate a client, different ones for each request."""

    def __init__(
        self,
        client_id: str,
        private_key: Union[str, Mapping[str, Any]],
        key_id: Optional[str],
        audience: str,
        wall_time: Callable[[], float],
    ) -> None:
        self._client_id = client_id
        self._audience = audience
        self._wall_time = wall_time
        self._key = _load_pem(private_key) if isinstance(private_key, str) else _load_jwk(private_key)
        self._algorithm = _algorithm_of(self._key, None if isinstance(private_key, str) else private_key.get("alg"))
        self._key_id = key_id if key_id is not None or isinstance(private_key, str) else private_key.get("kid")

    def parameters(self) -> dict[str, str]:
        issued_at = int(self._wall_time())
        header = {"alg": self._algorithm} | ({"kid": self._key_id} if self._key_id is not None else {})
        claims = {
            "iss": self._client_id,
            "sub": self._client_id,
            "aud": self._audience,
            "jti": str(uuid.uuid4()),
            "iat": issued_at,
            "exp": issued_at + ASSERTION_SECONDS,
        }
        content = f"{_encode_json(header)}.{_encode_json(claims)}"
        signature = _sign(self._key, self._algorithm, content.encode())
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": f"{content}.{_encode(signature)}"}


def _load_pem(text: str) -> PrivateKey:
    serialization = _require_cryptography()
    try:
        key = serialization.load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError):
        # Without the cause: it could quote the key.
        raise ValueError(UNSUPPORTED) from None
    return _require_supported(key)


def _load_jwk(jwk: Mapping[str, Any]) -> PrivateKey:
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    try:
        if jwk["kty"] == "OKP" and jwk["crv"] == "Ed25519":
            return ed25519.Ed25519PrivateKey.from_private_bytes(_decode(jwk["d"]))
        if jwk["kty"] == "EC" and jwk["crv"] == "P-256":
            return ec.derive_private_key(_integer(jwk["d"]), ec.SECP256R1())
        if jwk["kty"] == "RSA":
            p, q, d, dmp1, dmq1, iqmp, e, n = (_integer(jwk[name]) for name in ("p", "q", "d", "dp", "dq", "qi", "e", "n"))
            return rsa.RSAPrivateNumbers(p, q, d, dmp1, dmq1, iqmp, rsa.RSAPublicNumbers(e, n)).private_key()
    except (KeyError, ValueError, TypeError):
        pass
    raise ValueError(UNSUPPORTED)


def _require_supported(key: Any) -> PrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if isinstance(key, (ed25519.Ed25519PrivateKey, rsa.RSAPrivateKey)):
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise ValueError(UNSUPPORTED)


def _algorithm_of(key: PrivateKey, chosen: object) -> str:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    if isinstance(key, ec.EllipticCurvePrivateKey):
        return "ES256"
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return "EdDSA"
    return "RS256" if chosen == "RS256" else "PS256"


def _sign(key: PrivateKey, algorithm: str, content: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(content)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        # RFC 7518 3.4 wants both numbers side by side, not DER.
        r, s = decode_dss_signature(key.sign(content, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    if algorithm == "RS256":
        return key.sign(content, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(content, padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256.digest_size), hashes.SHA256())


def _require_cryptography() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise ImportError('private_key needs the package cryptography. Install "hourbank[keys]".') from None
    return serialization


def _integer(text: str) -> int:
    return int.from_bytes(_decode(text), "big")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _encode_json(value: object) -> str:
    return _encode(json.dumps(value, separators=(",", ":")).encode())


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
