"""``python -m hourbank listen``: posts each event, signed like a webhook, to an address on your machine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from . import Hourbank, HourbankError, create_webhook_secret, listen

CREDENTIALS = (
    "The credentials are HOURBANK_CLIENT_ID, and HOURBANK_CLIENT_SECRET or HOURBANK_PRIVATE_KEY_FILE (a PEM file)."
)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser("hourbank", epilog=CREDENTIALS)
    commands = parser.add_subparsers(required=True, metavar="listen")
    options = commands.add_parser("listen", help="post each event, signed, to an address on your machine", epilog=CREDENTIALS)
    options.add_argument("--forward-to", required=True, help="your receiver, such as http://localhost:3000/hooks")
    options.add_argument("--url", default=os.environ.get("HOURBANK_URL"), help="the service; otherwise HOURBANK_URL")
    options.add_argument("--secret", help="signs the events; otherwise a new one is printed")
    options.add_argument("--all", action="store_true", help="also forward the events of the last 30 days")
    values = parser.parse_args(arguments)
    key_file = os.environ.get("HOURBANK_PRIVATE_KEY_FILE")
    try:
        client = Hourbank(
            values.url,
            os.environ.get("HOURBANK_CLIENT_ID", ""),
            None if key_file else os.environ.get("HOURBANK_CLIENT_SECRET"),
            private_key=Path(key_file).read_text() if key_file else None,
        )
    except (ValueError, OSError) as error:
        print(error, CREDENTIALS, sep="\n", file=sys.stderr)
        return 2
    with client:
        return _listen(client, values.forward_to, values.secret or create_webhook_secret(), values.all)


def _listen(client: Hourbank, forward_to: str, secret: str, include_past: bool) -> int:
    def on_ready() -> None:
        _print(f"Forwarding events to {forward_to}. Press Ctrl-C to stop.")
        _print(f"They are signed with {secret}")

    def on_trouble(message: Optional[str]) -> None:
        _print("Continuing." if message is None else f"Waiting: {message}")

    try:
        events = listen(
            client,
            forward_to=forward_to,
            secret=secret,
            include_past=include_past,
            on_ready=on_ready,
            on_trouble=on_trouble,
        )
        for event, status in events:
            _print(f"{event['timestamp']}  {event['type']}  {event['id']}  {status}")
    except KeyboardInterrupt:
        return 0
    except HourbankError as error:
        print(error, file=sys.stderr)
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _print(line: str) -> None:
    # Flushed: the output may go to a file or to another program.
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
