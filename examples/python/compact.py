"""Compacts the messages of a request through a ctxfold gateway: ctxfold gateway --port 8787"""
import json
import os
import sys
import urllib.request

GATEWAY = os.environ.get("CTXFOLD_GATEWAY", "http://127.0.0.1:8787")


def compact(messages, format="chat", model=None):
    """Returns the compacted messages, or the given ones if the gateway cannot be reached."""
    body = json.dumps({"format": format, "messages": messages, **({"model": model} if model else {})})
    try:
        with urllib.request.urlopen(f"{GATEWAY}/ctxfold/compact", body.encode(), timeout=10) as answer:
            return json.load(answer)["messages"]
    except OSError:
        return messages


if __name__ == "__main__":
    json.dump(compact(json.load(sys.stdin), *sys.argv[1:]), sys.stdout)
