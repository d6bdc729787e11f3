// SPDX-License-Identifier: GPL-3.0-or-later
// JavaChains.java in a virtual thread, which there are since Java 21.
//
//     java -Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1
//          [OPTION...] VirtualChains.java FILE
//
// Each stretch of time in which the virtual thread is at work in one chain of methods becomes a line
// of JSON in FILE, as JavaChains.java has them, and as many of them; `tid` is the thread that carried
// it. It waits for a
// line on standard input before it begins, creates FILE.done at the end, and waits for another line
// before it exits.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

public class VirtualChains {
    static final long STRETCH_NS = 60_000_000;
    static final long CPU_NS = 40_000_000; // that a phase takes, or more
    static final int WARM_CALLS = 20_000; // more than it takes to have a method compiled
    static Path output;
    static volatile long sink;

    interface Work {
        long run(String phase, long ns);
    }

    static StackTraceElement[] chain() {
        return Thread.currentThread().getStackTrace();
    }

    static int line() {
        return Thread.currentThread().getStackTrace()[2].getLineNumber();
    }

    static String place(StackTraceElement frame) {
        String name = frame.getClassName();
        int dot = name.lastIndexOf('.');
        String folder = dot < 0 ? "" : name.substring(0, dot + 1).replace('.', '/');
        String file = frame.getFileName() == null ? "" : folder + frame.getFileName();
        return "[\"" + name + "." + frame.getMethodName() + "\", \"" + file + "\", "
            + Math.max(frame.getLineNumber(), 0) + "]";
    }

    // Of the kernel's thread that runs this.
    static Path carrier() {
        try {
            return Path.of("/proc/thread-self").toRealPath().getFileName();
        } catch (IOException problem) {
            throw new RuntimeException(problem);
        }
    }

    // What the thread that runs this has had of CPUs, ns: Java does not tell it to a virtual one. The
    // kernel counts it up at its ticks.
    static long cpu() {
        try {
            String text = Files.readString(Path.of("/proc/thread-self/schedstat"));
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        } catch (IOException problem) {
            throw new RuntimeException(problem);
        }
    }

    static void tell(String phase, long begin, long end, StackTraceElement[] chain, int first,
                     int last) {
        StringBuilder text = new StringBuilder();
        text.append("{\"phase\": \"").append(phase).append("\", \"pid\": ")
            .append(ProcessHandle.current().pid()).append(", \"tid\": ").append(carrier())
            .append(", \"begin\": ").append(begin).append(", \"end\": ").append(end)
            .append(", \"chain\": [");
        // Without getStackTrace() and chain().
        for (int i = chain.length - 1; i >= 2; i--)
            text.append(place(chain[i])).append(i > 2 ? ", " : "");
        text.append("], \"lines\": [").append(first).append(", ").append(last)
            .append("], \"inner\": [\"java.lang.System.nanoTime\"]}\n");
        try {
            Files.writeString(output, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException problem) {
            throw new RuntimeException(problem);
        }
    }

    // Each stretch lies between the two readings of its clock.
    static long burn(String phase, long ns) {
        if (ns == 0)
            return phase.length();
        StackTraceElement[] chain = chain();
        int first = line();
        long value = 0, used = 0;
        while (used < CPU_NS) {
            used -= cpu();
            long begin = System.nanoTime(), end = begin;
            while (end - begin < ns) {
                for (int i = 0; i < 1000; i++)
                    value = (value * 31 + 7) % 1_000_003;
                end = System.nanoTime();
            }
            used += cpu();
            int last = line();
            tell(phase, begin, end, chain, first, last);
        }
        return value;
    }

    // All frames go to the heap. Those that are returned to come back; others may stay there, though
    // the chain is asked for.
    static long parked(String phase, long ns) {
        LockSupport.parkNanos(1);
        return ns == 0 ? phase.length() : burn(phase, ns) + 1;
    }

    static long deep(int depth, Work work, String phase, long ns) {
        return depth == 0 ? work.run(phase, ns) + 1
                          : deep(depth - 1, work, phase, ns) + 1;
    }

    static void phase(String name, Work work, int calls) {
        work.run(name + " cold", STRETCH_NS);
        for (int i = 0; i < calls; i++)
            sink += work.run(name, 0);
        work.run(name + " warm", STRETCH_NS);
    }

    static void phases() {
        phase("burn", VirtualChains::burn, WARM_CALLS);
        phase("deep", (name, ns) -> deep(40, VirtualChains::burn, name, ns), WARM_CALLS);
        // Each of these calls parks.
        phase("parked", VirtualChains::parked, WARM_CALLS / 10);
        phase("deep parked", (name, ns) -> deep(40, VirtualChains::parked, name, ns),
              WARM_CALLS / 10);
    }

    public static void main(String[] arguments) throws Exception {
        output = Path.of(arguments[0]);
        System.out.println("ready");
        System.in.read();
        Thread thread = Thread.ofVirtual().start(VirtualChains::phases);
        thread.join();
        Files.createFile(Path.of(arguments[0] + ".done"));
        System.in.read();
    }
}
