// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessPicker: a list of processes to choose from, without a terminal: keys in, canvas out. What
// is typed filters it.
#pragma once

#include "loader/process/process_activity.h"
#include "views/canvas.h"
#include "views/screen/key.h"
#include "views/screen/list_cursor.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

class ProcessPicker {
  public:
    enum class Outcome { choosing, chosen, left };

    void update(std::vector<ProcessActivity> activities);
    Outcome press(const Key& key);
    Canvas draw(size_t width, size_t height);
    // That the cursor is on; null when none is listed.
    const ProcessActivity* chosen() const;

  private:
    enum class Order { cpus, waits };

    void list(); // what is shown of all, in its order
    void draw_row(Canvas& canvas, size_t y, const ProcessActivity& activity, bool under_cursor);

    std::vector<ProcessActivity> all_;
    std::vector<size_t> shown_; // indices into all_
    std::string filter_;        // UTF-8
    Order order_ = Order::cpus;
    ListCursor cursor_{true};
    size_t page_ = 10; // rows shown last
};

} // namespace auger
