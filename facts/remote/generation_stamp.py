"""Read the files of the generation stamp and print one JSON line; what could not be read is {"error": …}."""

import json

LIMIT_BYTES = 2**20


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LIMIT_BYTES)
    except FileNotFoundError:
        return None


def main(text):
    paths = json.loads(text)
    try:
        found = {name: text_of(path) for name, path in paths.items()}
    except OSError as error:
        found = {"error": f"{error.filename}: {error.strerror}"}
    print(json.dumps(found))
