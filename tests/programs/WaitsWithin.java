// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for a line within functions; jstack says where.
import java.io.IOException;
import java.util.function.IntSupplier;

public class WaitsWithin {
    static int inner() {
        try {
            return System.in.read();
        } catch (IOException problem) {
            return -1;
        }
    }

    static class Shop {
        int handle(int depth) {
            if (depth > 0)
                return handle(depth - 1);
            IntSupplier wait = () -> inner();
            return wait.getAsInt();
        }
    }

    public static void main(String[] arguments) {
        System.out.println("ready");
        new Shop().handle(3);
    }
}
