"""Wait until the Ollama of this host answers with a version; else say on stderr what there is instead."""

import http.client
import json
import sys
import time
import urllib.parse


def version(endpoint):
    """What it says, or why it says nothing."""
    parts = urllib.parse.urlsplit(endpoint)
    try:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        connection.request("GET", "/api/version")
        return "version " + str(json.loads(connection.getresponse().read(65536))["version"])[:64]
    except (OSError, http.client.HTTPException) as error:
        return str(getattr(error, "strerror", None) or error or type(error).__name__)[:200].lower()
    except (ValueError, KeyError, TypeError):
        return "no version"


def main(text):
    asked = json.loads(text)
    deadline = time.monotonic() + asked["seconds"]
    while True:
        found = version(asked["endpoint"])
        if found == f"version {asked['version']}":
            return
        if time.monotonic() > deadline:
            sys.exit(f"expected version {asked['version']} to answer at {asked['endpoint']}, found {found}")
        time.sleep(0.5)
