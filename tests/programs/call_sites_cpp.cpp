// SPDX-License-Identifier: GPL-3.0-or-later
//
// Call sites of C++: a method, a template, exceptions that leave a call and are caught by its
// caller, which then goes on right behind the call. The names in the account are probes.
#include "call_sites.h"

#include <stdexcept>

// A site's account and its call stand on one line, which is why this file is not formatted.
// clang-format off

namespace {

enum { METHOD, TEMPLATE, THROWING, REJOINING, CIRCLE, SQUARE, CIRCLE_THROWS, SQUARE_THROWS, COUNT };
call_site sites[COUNT] = {{"Basket::add", nullptr, 0, 0, 0, 0},
                          {"work", nullptr, 0, 0, 0, 0},
                          {"may_throw", nullptr, 0, 0, 0, 0},
                          {"may_throw", nullptr, 0, 0, 0, 0},
                          {"Circle::area", nullptr, 0, 0, 0, 0},
                          {"Square::area", nullptr, 0, 0, 0, 0},
                          {"Circle::draw", nullptr, 0, 0, 0, 0},
                          {"Square::draw", nullptr, 0, 0, 0, 0}};
truth_function functions[COUNT];
char names[COUNT][64];

struct Basket {
    int sum = 0;
    TIMED void add(int value) { sum += value; }
};

template <typename T>
TIMED T templated(T value) {
    CALLING(sites[TEMPLATE], 1); T result = static_cast<T>(work(static_cast<int>(value)));
    truth_count(&sites[TEMPLATE].returns);
    return result + 1;
}

TIMED void may_throw(bool throws) {
    if (throws)
        throw std::runtime_error("thrown on purpose");
}

TIMED int method(Basket& basket, int value) {
    CALLING(sites[METHOD], 1); basket.add(value);
    truth_count(&sites[METHOD].returns);
    return basket.sum;
}

// The exception leaves this function, too.
TIMED void throwing(bool throws) {
    truth_count(throws ? &sites[THROWING].unwound : &sites[THROWING].returns);
    CALLING(sites[THROWING], 1); may_throw(throws);
    asm volatile("");
}

// What catches comes back to where the call would have returned to.
TIMED int rejoining(bool throws) {
    truth_count(throws ? &sites[REJOINING].unwound : &sites[REJOINING].returns);
    try {
        CALLING(sites[REJOINING], 1); may_throw(throws);
    } catch (const std::exception&) {
    }
    return 3;
}

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int value) = 0;
    virtual void draw(bool throws) = 0;
    int site = 0; // CIRCLE or SQUARE
};

struct Circle : Shape {
    TIMED int area(int value) override { return value * 3; }
    TIMED void draw(bool throws) override {
        if (throws)
            throw std::runtime_error("a circle");
    }
};

struct Square : Shape {
    TIMED int area(int value) override { return value * value; }
    TIMED void draw(bool throws) override {
        if (throws)
            throw std::runtime_error("a square");
    }
};

TIMED int virtual_call(Shape& shape, int value) {
    CALLING(sites[shape.site], 1); int result = shape.area(value);
    truth_count(&sites[shape.site].returns);
    return result + 1;
}

TIMED int virtual_throw(Shape& shape, bool throws) {
    const int site = shape.site + CIRCLE_THROWS - CIRCLE;
    truth_count(throws ? &sites[site].unwound : &sites[site].returns);
    try {
        CALLING(sites[site], 1); shape.draw(throws);
    } catch (const std::exception&) {
    }
    return 3;
}

} // namespace

int main(int argc, char** argv) {
    truth_program program = {};
    program.name = "call_sites_cpp";
    program.about = "calls of methods and templates, and calls that throw";
    program.functions = functions;
    program.function_count = COUNT;
    program.pause_us = 100;
    truth_start(argc, argv, &program);
    Basket basket;
    Circle circle;
    Square square;
    circle.site = CIRCLE;
    square.site = SQUARE;
    Shape* const shapes[] = {&circle, &square, &square};
    for (uint64_t done = 0; truth_more(done); ++done) {
        const bool throws = done % 3 == 1;
        method(basket, 2);
        templated<int>(static_cast<int>(done % 5));
        templated<double>(1.5);
        bool caught = false;
        try {
            throwing(throws);
        } catch (const std::exception&) {
            caught = true;
        }
        truth_expect(caught == throws, "an exception went astray");
        for (Shape* shape : shapes) {
            virtual_call(*shape, 2);
            virtual_throw(*shape, throws);
            virtual_throw(*shape, !throws);
        }
        truth_expect(rejoining(throws) == 3, "rejoining went wrong");
    }
    truth_expect(basket.sum == static_cast<int>(truth_read(&sites[METHOD].returns)) * 2, "a call was lost");
    for (int i = 0; i < COUNT; i++)
        functions[i] = site_as_function(&sites[i], names[i], sizeof names[i]);
    return truth_finish();
}
