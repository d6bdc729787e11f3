// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for each line of its input in three functions. waits.* do the same in other languages.
import java.io.IOException;

class Waits {
    static int leaf() throws IOException {
        return System.in.read(); // leaf
    }

    static boolean middle() throws IOException {
        int letter = leaf(); // middle
        return letter >= 0;
    }

    static void outer() throws IOException {
        boolean more = true;
        while (more)
            more = middle(); // outer
    }

    public static void main(String[] arguments) throws IOException {
        System.out.println("ready");
        outer();
    }
}
