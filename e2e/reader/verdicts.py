"""What this reader takes: one line in, KIND HEX..., and one line out, ok or why not."""

import sys

import body
import envelope
from refusal import Refused


def check_log(wires):
    """The last of some entries, after the others."""
    entries = [envelope.parse_entry(w) for w in wires]
    log = envelope.Log(entries[0].space)
    for e in entries:
        log.append(e)


KINDS = {
    "delta": lambda wires: envelope.parse_delta(*wires),
    "entry": lambda wires: envelope.parse_entry(*wires),
    "log": check_log,
    "body": lambda parts: body.open_padded(envelope.parse_header(parts[0], with_body=False), parts[1]),
}


def main():
    for line in sys.stdin:
        kind, *parts = line.split()
        try:
            KINDS[kind]([bytes.fromhex(p) for p in parts])
            print("ok")
        except Refused as e:
            print(e)
        except Exception as e:
            print("broken:", repr(e))


if __name__ == "__main__":
    main()
