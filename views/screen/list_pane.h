// SPDX-License-Identifier: GPL-3.0-or-later
// A pane that is a list of rows under a head: cursor, scrolling, search and mouse are the same for
// all of them.
#pragma once

#include "views/screen/area.h"
#include "views/screen/list_cursor.h"
#include "views/screen/pattern.h"

#include <unordered_map>

namespace auger {

class ListPane : public Pane {
  public:
    void draw(Canvas&, const Rect& rect, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>& expression, const Model&) override;

  protected:
    explicit ListPane(bool unicode, bool follow_first = false)
        : cursor_(follow_first), unicode_(unicode) {}

    // The rows anew, by keys that stay the same for the same thing.
    void set_rows(std::vector<uint64_t> keys);
    // What a search looks at; of one key always the same.
    virtual std::string text_of(size_t row) const = 0;
    // A row's part of the whole, for the share of what a search finds. Negative: rows overlap, so
    // there is none.
    virtual double share_of(size_t) const { return -1; }
    // What stands below the list of the row under the cursor, where there is room: what the row
    // itself may have had no room for.
    virtual std::string detail_of(size_t) const { return {}; }
    // Above the rows: what is shown, column titles, what is missing. Returns the rows it took.
    virtual size_t draw_head(Area&) = 0;
    // Draws what stands beside or below the list and returns what is left for the list itself.
    virtual Area draw_beside(Area body) { return body; }
    virtual void draw_row(Area& line, size_t row) const = 0;
    // Enter or double click.
    virtual void open_row(size_t row, const Model&, const Scope&, std::vector<Wish>&) = 0;
    // The cursor is on another row.
    virtual void moved(const Model&) {}
    bool unicode() const { return unicode_; }
    // "ns::f<int>(ns::T const&)  libservice.so": nothing is left out of it.
    static std::string whole_name(const SymbolTables&, FunctionId);

    ListCursor cursor_;

  private:
    void draw_position(Area&, size_t head, size_t height) const;
    bool matches(size_t row);
    std::string found();

    bool unicode_;
    Rect list_; // of the rows, as drawn last
    size_t top_ = 0;
    std::optional<Pattern> pattern_;
    std::unordered_map<uint64_t, bool> matches_; // by key; of the present pattern
};

} // namespace auger
