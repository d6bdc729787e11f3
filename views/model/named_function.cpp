// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/named_function.h"

#include "views/model/frame_kind.h"
#include "views/model/function_match.h"

#include <algorithm>

namespace auger {
namespace {

// Where the name begins behind "SCOPE:"; 0: there is no scope.
size_t end_of_scope(std::string_view text) {
    const size_t colon = text.find(':');
    const bool is_scope =
        colon != text.npos && colon > 0 && colon + 1 < text.size() && text[colon + 1] != ':';
    return is_scope ? colon + 1 : 0;
}

// "app.Handler.get" is what "get", "Handler.get" and "app.Handler.get" name; so with Ruby's
// "Shop::Order#total".
bool ends_with_components(std::string_view text, std::string_view wanted) {
    if (wanted.empty() || !text.ends_with(wanted))
        return false;
    text.remove_suffix(wanted.size());
    return text.empty() || text.ends_with('.') || text.ends_with('#') || text.ends_with("::");
}

// "/srv/app/__init__.py" -> ".srv.app", "com/shop/Orders.java" -> "com.shop.Orders": as languages
// name what is in a file.
std::string module_of(std::string_view path) {
    const size_t begin = path.rfind('/') + 1, end = path.rfind('.');
    if (end != path.npos && end > begin)
        path = path.substr(0, end);
    constexpr std::string_view package = "/__init__";
    if (path.ends_with(package))
        path.remove_suffix(package.size());
    std::string module(path);
    std::ranges::replace(module, '/', '.');
    return module;
}

std::string_view file_of(const SymbolTables& symbols, const FrameEntry& frame) {
    const std::string_view known = symbols.text(frame.file);
    return known.empty() ? source_file(symbols.name(frame.function)) : known;
}

} // namespace

NamedFunction::NamedFunction(std::string_view text)
    : scope_(text.substr(0, std::max<size_t>(end_of_scope(text), 1) - 1)),
      name_(text.substr(end_of_scope(text))) {}

bool NamedFunction::has_language(std::string_view text) {
    const size_t end = end_of_scope(text);
    return end > 0 && std::ranges::find(languages, text.substr(0, end - 1)) != languages.end();
}

bool NamedFunction::is_in_scope(const SymbolTables& symbols, FunctionId function,
                                std::string_view language) const {
    if (scope_.empty() || scope_ == language)
        return true;
    const std::string_view path = symbols.module(symbols.function(function).module).path;
    return path == scope_ || path.substr(path.rfind('/') + 1) == scope_;
}

bool NamedFunction::is(const SymbolTables& symbols, const FrameEntry& frame) const {
    const std::string_view language = language_of(symbols, frame.function);
    if (!is_in_scope(symbols, frame.function, language))
        return false;
    const std::string_view name = symbols.name(frame.function);
    if (names_function(name, name_))
        return true;
    if (language.empty())
        return false;
    const std::string_view in_source = source_name(name);
    const std::string_view bare = in_source.empty() ? name : in_source;
    return ends_with_components(bare, name_) ||
           ends_with_components(module_of(file_of(symbols, frame)) + "." + std::string(bare),
                                name_);
}

} // namespace auger
