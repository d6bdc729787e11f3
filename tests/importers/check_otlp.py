# SPDX-License-Identifier: GPL-3.0-or-later
"""check_otlp.py PROTO_FOLDER FILE: whether a file is what OpenTelemetry's profiles have to be.

The rules are those of the comments in profiles.proto, MUST and SHOULD, and what receivers want beyond
them. Prints an object: "faults", and "sums" of values by type and class.
"""
import collections
import json
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "opentelemetry.proto.profiles.v1development."
TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")

faults = []


def fault_if(wrong, text):
    if wrong:
        faults.append(text)


def message_class(folder):
    with tempfile.NamedTemporaryFile() as described:
        subprocess.run(
            ["protoc", "-I", folder, "--include_imports", "--descriptor_set_out", described.name,
             "opentelemetry/proto/profiles/v1development/profiles.proto"], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(described.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    name = PACKAGE + "ProfilesData"
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(name))


def check_known(message, path):
    """Every field is one of the .proto file's, however deep."""
    fault_if(len(message.UnknownFields()) > 0, f"{path}: unknown fields")
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                check_known(one, f"{path}.{field.name}")


class Dictionary:
    """The tables, and which of their entries somebody refers to."""

    def __init__(self, message):
        self.tables = {name: getattr(message, name + "_table") for name in TABLES}
        self.used = {name: {0} for name in TABLES}
        for name, table in self.tables.items():
            if len(table) == 0:
                faults.append(f"{name}_table is empty")
                continue
            first = table[0] if name == "string" else table[0].SerializeToString()
            fault_if(first, f"{name}_table[0] is not zero")
            entries = [one if name == "string" else one.SerializeToString(deterministic=True)
                       for one in table]
            fault_if(len(set(entries)) < len(entries), f"{name}_table has an entry twice")

    def at(self, name, index, path):
        table = self.tables[name]
        if not 0 <= index < len(table):
            faults.append(f"{path}: {name}_table has no {index}")
            return table[0]
        self.used[name].add(index)
        return table[index]

    def attributes(self, owner, path):
        """By key."""
        found = {}
        for index in owner.attribute_indices:
            fault_if(index == 0, f"{path}: attribute 0 is none")
            one = self.at("attribute", index, path)
            key = self.at("string", one.key_strindex, path)
            self.at("string", one.unit_strindex, path)
            fault_if(not key, f"{path}: an attribute has no key")
            fault_if(key in found, f"{path}: {key} twice")
            found[key] = one.value
        return found

    def check_entries(self):
        for i, one in enumerate(self.tables["stack"]):
            for index in one.location_indices:
                self.at("location", index, f"stack {i}")
        for i, one in enumerate(self.tables["location"]):
            path = f"location {i}"
            self.at("mapping", one.mapping_index, path)
            self.attributes(one, path)
            for line in one.lines:
                self.at("function", line.function_index, path)
                fault_if(line.line < 0 or line.column < 0, f"{path}: a line below zero")
        for i, one in enumerate(self.tables["mapping"]):
            path = f"mapping {i}"
            self.at("string", one.filename_strindex, path)
            self.attributes(one, path)
            fault_if((one.memory_start or one.memory_limit) and
                     one.memory_start >= one.memory_limit, f"{path} ends before it begins")
        for i, one in enumerate(self.tables["function"]):
            names = (one.name_strindex, one.system_name_strindex, one.filename_strindex)
            for index in names:
                self.at("string", index, f"function {i}")
            fault_if(i > 0 and not any(names), f"function {i} has no name")
        for i, one in enumerate(self.tables["link"]):
            fault_if(i > 0 and (len(one.trace_id), len(one.span_id)) != (16, 8),
                     f"link {i} has ids of other lengths")

    def check_orphans(self):
        for name, table in self.tables.items():
            orphans = set(range(len(table))) - self.used[name]
            fault_if(orphans, f"{name}_table: nobody refers to {sorted(orphans)}")


def check_keys(attributes, path):
    keys = [one.key for one in attributes]
    fault_if(len(set(keys)) < len(keys), f"{path}: a key twice")
    fault_if(not all(keys), f"{path}: an attribute has no key")
    for one in attributes:
        fault_if(one.value.WhichOneof("value") != "string_value", f"{path}: {one.key} is no string")
    return keys


def check_sample(sample, profile, dictionary, path):
    dictionary.at("stack", sample.stack_index, path)
    dictionary.at("link", sample.link_index, path)
    attributes = dictionary.attributes(sample, path)
    for key, value in attributes.items():
        fault_if(value.WhichOneof("value") != "string_value", f"{path}: {key} is no string")
    values, times = len(sample.values), len(sample.timestamps_unix_nano)
    fault_if(times == 0 and values != 1, f"{path}: {values} values without timestamps")
    fault_if(times > 0 and values not in (0, times), f"{path}: {values} values, {times} timestamps")
    begin = profile.time_unix_nano
    fault_if(any(not begin <= time < begin + profile.duration_nano
                 for time in sample.timestamps_unix_nano), f"{path}: a timestamp is outside")
    fault_if(any(value < 0 for value in sample.values), f"{path}: a value below zero")
    return attributes


def check_profile(profile, dictionary, path):
    """The name of its type, and sums of its values by class."""
    for field in ("sample_type", "period_type"):
        fault_if(not profile.HasField(field), f"{path} has no {field}")
        of = getattr(profile, field)
        dictionary.at("string", of.type_strindex, path)
        dictionary.at("string", of.unit_strindex, path)
    of = profile.sample_type
    fault_if(not of.type_strindex or not of.unit_strindex, f"{path}: values of no type")
    fault_if(bool(profile.original_payload) != bool(profile.original_payload_format),
             f"{path}: a payload without its format")
    fault_if(len(profile.profile_id) not in (0, 16), f"{path}: an id of another length")
    dictionary.attributes(profile, path)
    sums, identities, shapes = collections.Counter(), set(), set()
    for i, sample in enumerate(profile.samples):
        attributes = check_sample(sample, profile, dictionary, f"{path}.samples[{i}]")
        sums[attributes["class"].string_value if "class" in attributes else ""] += \
            sum(sample.values)
        identities.add((sample.stack_index, frozenset(sample.attribute_indices), sample.link_index))
        shapes.add((len(sample.values) > 0, len(sample.timestamps_unix_nano) > 0))
    fault_if(len(identities) < len(profile.samples), f"{path}: a sample twice")
    fault_if(len(shapes) > 1, f"{path}: samples of several shapes")
    strings = dictionary.tables["string"]
    return f"{strings[of.type_strindex]}/{strings[of.unit_strindex]}", sums


def main(folder, path):
    with open(path, "rb") as file:
        data = message_class(folder).FromString(file.read())
    check_known(data, "data")
    dictionary = Dictionary(data.dictionary)
    dictionary.check_entries()
    sums = collections.defaultdict(collections.Counter)
    fault_if(not data.resource_profiles, "no resource")
    for i, resource in enumerate(data.resource_profiles):
        at = f"resource {i}"
        fault_if("service.name" not in check_keys(resource.resource.attributes, at),
                 f"{at} has no service.name")
        fault_if(not resource.scope_profiles, f"{at} has no scope")
        for scope in resource.scope_profiles:
            check_keys(scope.scope.attributes, at)
            fault_if(not scope.profiles, f"{at} has no profile")
            for k, profile in enumerate(scope.profiles):
                name, of_profile = check_profile(profile, dictionary, f"{at}.profiles[{k}]")
                sums[name] += of_profile
    dictionary.check_orphans()
    print(json.dumps({"faults": faults, "sums": sums}))


main(*sys.argv[1:])
