// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/native_function.h"

#include "loader/runtimes/python/object_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace auger {
namespace {

// In all versions known: PyModuleObject, PyCFunctionObject, PyMethodDescrObject,
// classmethod and staticmethod, PyTypeObject, PyMethodDef.
constexpr uint64_t module_names = 16;
constexpr uint64_t builtin_definition = 16, bound_to = 24;
constexpr uint64_t descriptor_definition = 40;
constexpr uint64_t method_callable = 16;
constexpr uint64_t class_methods = 232, class_names = 264, class_order = 344;
constexpr uint64_t definition_function = 8, definition_bytes = 32;

constexpr size_t most_methods = 1024; // of a class
constexpr size_t most_classes = 64;   // that one inherits from
constexpr size_t method_name_limit = 256;

constexpr const char* shared_new =
    "one function (tp_new_wrapper) serves __new__ of all classes written in C";

// What a name leads to: an object, or a PyMethodDef of a class that has no other table of names
// (since 3.12 those of the interpreter's own are kept elsewhere).
struct Meaning {
    uint64_t object = 0;
    uint64_t definition = 0;

    explicit operator bool() const { return object || definition; }
};

class NameSearch {
  public:
    NameSearch(const ReadMemory& read, const PythonLayout& layout, uint64_t runtime)
        : objects_(read, layout), runtime_(runtime) {}

    NativeFunction find(std::string_view name) {
        NativeFunction found = follow(name);
        if (!objects_.failed())
            return found;
        return {.problem = objects_.late() ? "the process's memory could not be read in time"
                                           : "its entry in the process's memory cannot be read"};
    }

  private:
    NativeFunction follow(std::string_view name);
    NativeFunction none_of(std::string_view whole, std::string_view part) const;
    Meaning member(uint64_t object, std::string_view name);
    Meaning member_of_class(uint64_t type, std::string_view name);
    uint64_t method(uint64_t type, std::string_view name);
    NativeFunction function_of(Meaning meaning, std::string_view name, bool may_wrap = true);
    NativeFunction defined(uint64_t definition, std::string_view name);

    ObjectReader objects_;
    uint64_t runtime_;
    bool is_hidden_ = false; // of a class it is not known whether it has that
};

NativeFunction NameSearch::follow(std::string_view name) {
    const PythonLayout& layout = objects_.layout();
    const uint64_t interpreter = objects_.word(runtime_ + layout.frames.runtime_interpreters);
    const uint64_t modules =
        interpreter ? objects_.word(interpreter + layout.awaits.interpreter_modules) : 0;
    if (!modules)
        return {.problem = "Python has imported nothing yet", .may_come = true};
    // The longest beginning that is a module; without one, of what needs none.
    uint64_t object = 0;
    size_t at = name.size();
    while (!object && (at = name.rfind('.', at - 1)) != name.npos && at > 0)
        object = objects_.item(modules, name.substr(0, at));
    std::string_view rest = object ? name.substr(at + 1) : name;
    const bool is_builtin = !object;
    if (is_builtin)
        object = objects_.item(modules, "builtins");
    Meaning meaning{.object = object};
    for (size_t begin = 0; begin <= rest.size() && meaning.object;) {
        const size_t end = std::min(rest.find('.', begin), rest.size());
        const bool is_module = objects_.is_a(meaning.object, "module");
        meaning = member(meaning.object, rest.substr(begin, end - begin));
        if (!meaning && is_module && end < rest.size())
            return {.problem = fmt::format("{} is not imported",
                                           name.substr(0, name.size() - rest.size() + end)),
                    .may_come = true};
        if (!meaning)
            return none_of(begin        ? name.substr(0, name.size() - rest.size() + begin - 1)
                           : is_builtin ? std::string_view("builtins")
                                        : name.substr(0, at),
                           rest.substr(begin, end - begin));
        begin = end + 1;
        if (meaning.definition && begin <= rest.size())
            return {.problem = fmt::format("{} is a method",
                                           name.substr(0, name.size() - rest.size() + end))};
    }
    return function_of(meaning, rest.substr(rest.rfind('.') + 1));
}

NativeFunction NameSearch::none_of(std::string_view whole, std::string_view part) const {
    if (part == "__new__")
        return {.problem = shared_new};
    if (is_hidden_ && part.starts_with("__"))
        return {.problem = fmt::format("{} of {} cannot be looked up: of built-in classes, since "
                                       "CPython 3.12, only methods can",
                                       part, whole)};
    return {.problem = fmt::format("{} has no {}", whole, part)};
}

Meaning NameSearch::member(uint64_t object, std::string_view name) {
    if (objects_.is_a(object, "module")) {
        const uint64_t names = objects_.word(object + module_names);
        return {.object = names ? objects_.item(names, name) : 0};
    }
    if (objects_.is_a(object, "type"))
        return member_of_class(object, name);
    return {.object = objects_.attribute(object, name)};
}

// In the order in which Python looks for it.
Meaning NameSearch::member_of_class(uint64_t type, std::string_view name) {
    std::vector<uint64_t> order;
    if (const uint64_t classes = objects_.word(type + class_order))
        order = objects_.elements(classes, most_classes);
    if (order.empty())
        order.push_back(type);
    for (const uint64_t one : order) {
        if (const uint64_t names = objects_.word(one + class_names)) {
            if (const uint64_t object = objects_.item(names, name))
                return {.object = object};
        } else if (const uint64_t definition = method(one, name)) {
            return {.definition = definition};
        } else {
            is_hidden_ = true;
        }
    }
    return {};
}

uint64_t NameSearch::method(uint64_t type, std::string_view name) {
    const uint64_t methods = objects_.word(type + class_methods);
    for (size_t i = 0; methods && i < most_methods && !objects_.failed(); i++) {
        const uint64_t definition = methods + i * definition_bytes;
        const uint64_t text = objects_.word(definition);
        if (!text)
            break;
        if (objects_.characters(text, method_name_limit) == name)
            return definition;
    }
    return 0;
}

NativeFunction NameSearch::defined(uint64_t definition, std::string_view name) {
    if (name == "__new__")
        return {.problem = shared_new};
    const uint64_t address = definition ? objects_.word(definition + definition_function) : 0;
    if (!address)
        return {.problem = "its entry in the process's memory is not as expected"};
    return {.addresses = {address}};
}

NativeFunction NameSearch::function_of(Meaning meaning, std::string_view name, bool may_wrap) {
    if (meaning.definition)
        return defined(meaning.definition, name);
    const uint64_t object = meaning.object;
    const std::string kind = objects_.class_of(object);
    if (objects_.is_a(object, "builtin_function_or_method") ||
        kind.ends_with("cython_function_or_method")) {
        const uint64_t self = objects_.word(object + bound_to);
        if (const std::string of = self ? objects_.class_of(self) : "";
            of == "PyCapsule" || of.find("pybind11") != of.npos)
            return {.problem =
                        "one dispatcher serves all functions of its module, as pybind11 makes them",
                    .hint = "time the C++ function that it calls"};
        return defined(objects_.word(object + builtin_definition), name);
    }
    if (kind == "method_descriptor" || kind == "classmethod_descriptor")
        return defined(objects_.word(object + descriptor_definition), name);
    if (kind == "wrapper_descriptor")
        return {.problem = "it is a slot of its class, whose function may serve other names, too"};
    if (may_wrap && (kind == "staticmethod" || kind == "classmethod"))
        return function_of({.object = objects_.word(object + method_callable)}, name, false);
    if (kind == "function")
        return {.problem = "it is written in Python: the interpreter executes it, and there is "
                           "nothing to probe",
                .hint = "functions written in C can be timed, for example py:zlib.compress"};
    if (objects_.is_a(object, "type"))
        return {.problem = "it is a class",
                .hint = "its methods that are written in C can be timed"};
    return {.problem = fmt::format("it is a {}, not a function written in C", kind)};
}

} // namespace

NativeFunction find_native_function(const ReadMemory& read, const PythonLayout& layout,
                                    uint64_t runtime, std::string_view name) {
    if (!layout.awaits.known)
        return {.problem = "names can be looked up in CPython 3.11 to 3.15 only"};
    return NameSearch(read, layout, runtime).find(name);
}

} // namespace auger
