#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_manifests.py CLIENT PACKAGING: the manifests in PACKAGING/kubernetes have what Kubernetes'
API has, and no other fields, by the classes that its Python client (CLIENT/kubernetes) has of each
object, which are made from its OpenAPI definition; and what they say fits together, and what else
in PACKAGING says: the unit, and the image. Exits with 77 without the client, or PyYAML.
"""
import copy
import importlib
import re
import sys
import types
from pathlib import Path

PLAIN = {"str": str, "int": int, "bool": bool, "float": float, "object": object}
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|[kMGT]i?)?")


class Refused(Exception):
    pass


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def load_models(client):
    """The client's classes without the client, which would want other packages."""
    if not (client / "kubernetes/client/models").is_dir():
        skip("there is no Python client of Kubernetes")
    for name, folder in (("kubernetes", "kubernetes"), ("kubernetes.client", "kubernetes/client")):
        module = types.ModuleType(name)
        module.__path__ = [str(client / folder)]
        sys.modules[name] = module

    class Configuration:
        client_side_validation = True

        @classmethod
        def get_default_copy(cls):
            return cls()

    configuration = types.ModuleType("kubernetes.client.configuration")
    configuration.Configuration = Configuration
    sys.modules[configuration.__name__] = configuration
    sys.modules.setdefault("six", types.ModuleType("six"))  # which only writing them needs
    return importlib.import_module("kubernetes.client.models")


class Schema:
    def __init__(self, models):
        self.models = models

    def check(self, value, kind, place):
        """`kind` as the classes say it: str, list[V1Container], dict(str, str), V1Pod."""
        if many := re.fullmatch(r"list\[(.+)\]", kind):
            self.expect(value, list, kind, place)
            for index, one in enumerate(value):
                self.check(one, many[1], f"{place}[{index}]")
        elif pairs := re.fullmatch(r"dict\((.+?), (.+)\)", kind):
            self.expect(value, dict, kind, place)
            for name, one in value.items():
                self.check(name, pairs[1], place)
                self.check(one, pairs[2], f"{place}.{name}")
        elif kind in PLAIN:
            self.expect(value, PLAIN[kind], kind, place)
        else:
            self.check_object(value, getattr(self.models, kind), place)

    @staticmethod
    def expect(value, wanted, kind, place):
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is int):
            raise Refused(f"{place}: {value!r} is no {kind}")

    def check_object(self, value, model, place):
        self.expect(value, dict, model.__name__, place)
        attributes = {name: attribute for attribute, name in model.attribute_map.items()}
        for name, one in value.items():
            if name not in attributes:
                raise Refused(f"{place}.{name}: {model.__name__} has no such field")
            self.check(one, model.openapi_types[attributes[name]], f"{place}.{name}")
        try:  # what must be there, and which words there are
            model(**{attributes[name]: one for name, one in value.items()})
        except ValueError as error:
            raise Refused(f"{place}: {error}") from error

    def check_document(self, document):
        group, _, version = document.get("apiVersion", "").rpartition("/")
        kind = document.get("kind", "")
        model = f"{version.capitalize()}{kind}"
        known = {("", "V1Namespace"), ("apps", "V1DaemonSet")}
        if (group, model) not in known:
            raise Refused(f"{document.get('apiVersion')} {kind} is not looked for here")
        self.check(document, model, kind)


def demand(true, what):
    if not true:
        raise Refused(what)


def unit_capabilities(packaging):
    unit = (packaging / "auger-record@.service").read_text(encoding="utf-8")
    return set(re.search(r"^AmbientCapabilities=(.+)$", unit, re.M)[1].split())


def check_daemon_set(daemon_set, capabilities, user, options):
    """What a schema does not say."""
    spec = daemon_set["spec"]["template"]["spec"]
    labels = daemon_set["spec"]["template"]["metadata"]["labels"]
    wanted = daemon_set["spec"]["selector"]["matchLabels"]
    demand(wanted.items() <= labels.items(), "the selector does not select its own pods")
    demand(spec["hostPID"] and not spec.get("hostNetwork"), "processes of the node, no more")
    demand(spec["automountServiceAccountToken"] is False, "it needs no token")
    demand(spec["securityContext"]["runAsUser"] == user, "its user is not the image's")
    volumes = {volume["name"] for volume in spec["volumes"]}
    mounted = set()
    for container in spec["containers"]:
        rights = container["securityContext"]
        demand(rights["readOnlyRootFilesystem"] and "privileged" not in rights, "rights")
        demand(rights["capabilities"]["drop"] == ["ALL"], "capabilities are not dropped")
        demand({"CAP_" + name for name in rights["capabilities"]["add"]} == capabilities,
               "capabilities are not those of the unit")
        for mount in container["volumeMounts"]:
            mounted.add(mount["name"])
            demand(not mount["mountPath"].startswith("/sys") or mount.get("readOnly"),
                   f"{mount['mountPath']} may be written")
        for amount in ("requests", "limits"):
            for name, quantity in container["resources"][amount].items():
                demand(QUANTITY.fullmatch(quantity), f"{name}: {quantity} is no quantity")
        for word in container.get("args", []):
            demand(not word.startswith("-") or f"`{word}`" in options,
                   f"auger has no option {word}")
    demand(volumes == mounted, f"volumes {volumes}, and what is mounted of them {mounted}")


def spoiled(documents):
    """The same with mistakes, each of which has to be found."""
    def mistake(edit):
        copied = copy.deepcopy(documents)
        daemon_set = copied[-1]
        edit(daemon_set, daemon_set["spec"]["template"]["spec"])
        return copied

    yield mistake(lambda whole, spec: spec.update(hostPid=spec.pop("hostPID")))
    yield mistake(lambda whole, spec: spec.update(hostPID="true"))
    yield mistake(lambda whole, spec: whole["spec"].pop("selector"))
    yield mistake(lambda whole, spec: spec["containers"][0].pop("name"))
    yield mistake(lambda whole, spec: spec["containers"][0]["securityContext"]["seccompProfile"].clear())
    yield mistake(lambda whole, spec: spec["containers"][0]["startupProbe"].update(exec=["true"]))
    yield mistake(lambda whole, spec: spec["volumes"].pop())
    yield mistake(lambda whole, spec:
                  spec["containers"][0]["securityContext"]["capabilities"]["add"].append("SYS_ADMIN"))


def main():
    client, packaging = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    schema = Schema(load_models(client))
    version = re.search(r'__version__ = "(.+)"', (client / "kubernetes/__init__.py").read_text())[1]
    capabilities = unit_capabilities(packaging)
    options = (packaging.parent / "docs/reference.md").read_text(encoding="utf-8")
    image = (packaging / "container/Containerfile").read_text(encoding="utf-8")
    user = int(re.search(r"^USER (\d+)", image, re.M)[1])

    def check(documents):
        for document in documents:
            schema.check_document(document)
            if document["kind"] == "DaemonSet":
                check_daemon_set(document, capabilities, user, options)

    of_the_file = re.search(r"setcap ([a-z_,]+)=ep", image)[1].upper().split(",")
    demand(set(of_the_file) == capabilities, "the image's capabilities are not those of the unit")
    manifests = sorted((packaging / "kubernetes").glob("*.yaml"))
    demand(manifests, "there are no manifests")
    for manifest in manifests:
        documents = list(yaml.safe_load_all(manifest.read_text(encoding="utf-8")))
        check(documents)
        found = 0
        for mistaken in spoiled(documents):
            try:
                check(mistaken)
            except Refused as refused:
                found += 1
                print(f"  a mistake is found: {refused}")
        demand(found == len(list(spoiled(documents))), "a mistake was not found")
        print(f"{manifest.name}: {len(documents)} objects, as the client of Kubernetes {version} "
              "has them")


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
