// SPDX-License-Identifier: GPL-3.0-or-later
// What a receiver reads of OpenTelemetry's ProfilesData, by the numbers of opentelemetry-proto
// 1.11.0: indices followed, tables as they must be.
#pragma once

#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace auger::test {

// The fields of any message.
class ReadFields {
  public:
    explicit ReadFields(const std::string& bytes) {
        for (protozero::pbf_reader reader(bytes); reader.next();) {
            switch (reader.wire_type()) {
            case protozero::pbf_wire_type::varint:
                numbers_[reader.tag()].push_back(reader.get_uint64());
                break;
            case protozero::pbf_wire_type::fixed64:
                numbers_[reader.tag()].push_back(reader.get_fixed64());
                break;
            default:
                texts_[reader.tag()].push_back(reader.get_string());
            }
        }
    }
    bool has(uint32_t tag) const { return texts_.contains(tag) || numbers_.contains(tag); }
    uint64_t number(uint32_t tag) const { return numbers_.contains(tag) ? numbers_.at(tag)[0] : 0; }
    std::string text(uint32_t tag) const { return texts_.contains(tag) ? texts_.at(tag)[0] : ""; }
    std::vector<std::string> texts(uint32_t tag) const {
        return texts_.contains(tag) ? texts_.at(tag) : std::vector<std::string>{};
    }
    std::vector<ReadFields> messages(uint32_t tag) const {
        std::vector<ReadFields> all;
        for (const std::string& bytes : texts(tag))
            all.emplace_back(bytes);
        return all;
    }
    ReadFields message(uint32_t tag) const { return ReadFields(text(tag)); }
    std::vector<uint64_t> packed(uint32_t tag) const {
        std::vector<uint64_t> all;
        const std::string bytes = text(tag);
        for (const char *at = bytes.data(), *end = at + bytes.size(); at != end;)
            all.push_back(protozero::decode_varint(&at, end));
        return all;
    }

  private:
    std::map<uint32_t, std::vector<uint64_t>> numbers_;
    std::map<uint32_t, std::vector<std::string>> texts_;
};

using ReadAttributes = std::map<std::string, std::string>;

struct ReadSample {
    std::vector<std::vector<std::string>> stack; // leaf first; of each location its lines
    ReadAttributes attributes;
    int64_t value = 0;
    std::string trace, span; // that it is linked to: bytes; empty: to none
};

struct ReadProfile {
    std::string type, period_type; // "cpu/nanoseconds"
    uint64_t period = 0, time = 0, duration = 0;
    std::vector<std::string> comments;
    std::vector<ReadSample> samples;
};

struct ReadResource {
    ReadAttributes attributes;
    std::vector<ReadProfile> profiles;
    const ReadProfile& profile(const std::string& type) const {
        for (const ReadProfile& one : profiles)
            if (one.type == type)
                return one;
        ADD_FAILURE() << "no profile of " << type;
        return profiles.at(0);
    }
};

class OtlpReader {
  public:
    explicit OtlpReader(const std::string& bytes) {
        const ReadFields data(bytes);
        const ReadFields dictionary = data.message(2);
        for (uint32_t table = 1; table <= 7; table++) {
            const auto entries = dictionary.texts(table);
            EXPECT_FALSE(entries.empty()) << "table " << table;
            EXPECT_EQ(entries.at(0), "") << "table " << table;
            EXPECT_EQ(std::set(entries.begin(), entries.end()).size(), entries.size())
                << "twice in table " << table;
        }
        strings = dictionary.texts(5);
        mappings = dictionary.messages(1);
        locations_ = dictionary.messages(2);
        functions_ = dictionary.messages(3);
        links_ = dictionary.messages(4);
        attributes_ = dictionary.messages(6);
        stacks_ = dictionary.messages(7);
        for (const ReadFields& resource : data.messages(1))
            resources.push_back(read_resource(resource));
    }
    // Of what refers to table 6 in this field.
    ReadAttributes attributes(const ReadFields& owner, uint32_t tag) const {
        ReadAttributes all;
        for (const uint64_t index : owner.packed(tag)) {
            const ReadFields& one = attributes_.at(index);
            EXPECT_TRUE(all.try_emplace(strings.at(one.number(1)), one.message(2).text(1)).second);
        }
        return all;
    }
    std::string file_of(const ReadFields& mapping) const { return strings.at(mapping.number(4)); }

    std::vector<ReadResource> resources;
    std::vector<std::string> strings;
    std::vector<ReadFields> mappings;

  private:
    std::string type(const ReadFields& profile, uint32_t tag) const {
        EXPECT_TRUE(profile.has(tag));
        const ReadFields type = profile.message(tag);
        return strings.at(type.number(1)) + "/" + strings.at(type.number(2));
    }
    std::vector<std::string> lines(const ReadFields& location) const {
        std::vector<std::string> all;
        for (const ReadFields& line : location.messages(3)) {
            const ReadFields& function = functions_.at(line.number(1));
            all.push_back(strings.at(function.number(1)) + " " + strings.at(function.number(3)) +
                          ":" + std::to_string(line.number(2)));
        }
        return all;
    }
    ReadSample read_sample(const ReadFields& sample) const {
        ReadSample read;
        for (const uint64_t index : stacks_.at(sample.number(1)).packed(1))
            read.stack.push_back(lines(locations_.at(index)));
        read.attributes = attributes(sample, 2);
        read.trace = links_.at(sample.number(3)).text(1);
        read.span = links_.at(sample.number(3)).text(2);
        const auto values = sample.packed(4);
        EXPECT_EQ(values.size(), 1u);
        read.value = static_cast<int64_t>(values.at(0));
        return read;
    }
    ReadProfile read_profile(const ReadFields& profile) const {
        ReadProfile read{type(profile, 1),
                         type(profile, 5),
                         profile.number(6),
                         profile.number(3),
                         profile.number(4),
                         {},
                         {}};
        for (const uint64_t index : profile.packed(11)) {
            EXPECT_EQ(strings.at(attributes_.at(index).number(1)), "pprof.profile.comment");
            for (const ReadFields& text : attributes_.at(index).message(2).message(5).messages(1))
                read.comments.push_back(text.text(1));
        }
        for (const ReadFields& sample : profile.messages(2))
            read.samples.push_back(read_sample(sample));
        return read;
    }
    ReadResource read_resource(const ReadFields& resource) const {
        ReadResource read;
        for (const ReadFields& one : resource.message(1).messages(1))
            EXPECT_TRUE(read.attributes.try_emplace(one.text(1), one.message(2).text(1)).second);
        for (const ReadFields& scope : resource.messages(2))
            for (const ReadFields& profile : scope.messages(2))
                read.profiles.push_back(read_profile(profile));
        return read;
    }

    std::vector<ReadFields> locations_, functions_, links_, attributes_, stacks_;
};

} // namespace auger::test
