# SPDX-License-Identifier: GPL-3.0-or-later
"""validate.py SCHEMA FILE...: whether the documents fit a JSON schema, as python3-jsonschema judges.

A file with one object a line is that many documents. SCHEMA `xml`: whether they are well-formed;
`csv`: whether every row has as many fields as the first. Prints a line a fault.
"""
import csv
import json
import sys
import xml.etree.ElementTree

import jsonschema


def documents(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def check_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader((line for line in file if not line.startswith("#")), strict=True))
    for row in rows:
        if len(row) != len(rows[0]):
            print(f"{path}: {len(row)} fields, not {len(rows[0])}: {row}")


def main(schema_path, paths):
    if schema_path == "csv":
        for path in paths:
            check_table(path)
        return
    if schema_path == "xml":
        for path in paths:
            xml.etree.ElementTree.parse(path)
        return
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    for path in paths:
        for document in documents(path):
            for fault in kind(schema).iter_errors(document):
                print(f"{path}: {fault.json_path}: {fault.message[-300:]}")


main(sys.argv[1], sys.argv[2:])
