// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/listing.h"

#include "repl/language/stack_arguments.h"

namespace auger {
namespace {

// [CLASS]
Parsed<Listing> with_class(Arguments& arguments) {
    Listing listing;
    if (!arguments.at_end() && !arguments.peek().text.starts_with('-')) {
        auto filter = parse_class(arguments);
        if (!filter)
            return filter.complaint();
        listing.filter = std::move(*filter);
    }
    return listing;
}

Parsed<Listing> with_rows(Arguments& arguments, Listing listing) {
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    listing.limit = *rows;
    return listing;
}

} // namespace

Parsed<ClassFilter> parse_class(Arguments& arguments) {
    auto word = arguments.expect("a class");
    if (!word)
        return word.complaint();
    return class_of(*word);
}

Parsed<Listing> parse_listing(Arguments& arguments) {
    auto listing = with_class(arguments);
    if (!listing)
        return listing.complaint();
    return with_rows(arguments, std::move(*listing));
}

Parsed<Listing> parse_function_listing(Arguments& arguments) {
    auto listing = with_class(arguments);
    if (!listing)
        return listing.complaint();
    if (auto chosen = take_frame_choice(arguments, listing->frames); !chosen)
        return chosen.complaint();
    listing = with_rows(arguments, std::move(*listing));
    if (!listing)
        return listing.complaint();
    if (auto chosen = take_frame_choice(arguments, listing->frames); !chosen)
        return chosen.complaint();
    return listing;
}

Parsed<Listing> parse_call_listing(Arguments& arguments) {
    if (arguments.at_end())
        return Listing{};
    if (looks_like_range(arguments.peek()))
        return parse_listing(arguments); // which complains as of one
    Listing listing;
    if (auto filter = take_class(arguments)) {
        listing.filter = std::move(*filter);
        return with_rows(arguments, std::move(listing));
    }
    if (arguments.peek().text.starts_with('-'))
        return with_rows(arguments, std::move(listing));
    listing.probe = probe_ref(arguments.take());
    auto rest = parse_listing(arguments);
    if (!rest)
        return rest.complaint();
    rest->probe = std::move(listing.probe);
    return std::move(*rest);
}

} // namespace auger
