// SPDX-License-Identifier: GPL-3.0-or-later
// A program that knows its own chain of calls: tests/programs/python_chains.py in Java.
//
//     java [OPTION...] JavaChains.java FILE
//
// Each stretch of time in which a thread's chain of methods stays as it is becomes a line of JSON in
// FILE: phase, pid, tid (0: of the only thread named `chains`), begin and end (CLOCK_MONOTONIC, ns),
// the chain as Java tells it, outermost first ([method, file, line]), the lines that the innermost
// method has, and `inner`: methods that may stand further in. A phase has as many stretches as it
// takes until the thread has had its time on a CPU, or has slept its number of times: so each is
// sampled, however busy the machine is. It waits for a line on standard input before it begins,
// creates FILE.done at the end, and waits for another line before it exits.
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

public class JavaChains {
    static final long STRETCH_NS = 60_000_000;
    static final long CPU_NS = 40_000_000; // that a phase takes, or more
    static final int NAPS = 40;
    static final int WARM_CALLS = 20_000; // more than it takes to have a method compiled
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
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

    // What this thread has had of CPUs, ns.
    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static String place(StackTraceElement frame) {
        String name = frame.getClassName();
        int dot = name.lastIndexOf('.');
        String folder = dot < 0 ? "" : name.substring(0, dot + 1).replace('.', '/');
        String file = frame.getFileName() == null ? "" : folder + frame.getFileName();
        return "[\"" + name + "." + frame.getMethodName() + "\", \"" + file + "\", "
            + Math.max(frame.getLineNumber(), 0) + "]";
    }

    static void tell(String phase, long begin, long end, StackTraceElement[] chain, int first, int last,
                     String inner) {
        StringBuilder text = new StringBuilder();
        text.append("{\"phase\": \"").append(phase).append("\", \"pid\": ")
            .append(ProcessHandle.current().pid()).append(", \"tid\": 0, \"begin\": ").append(begin)
            .append(", \"end\": ").append(end).append(", \"chain\": [");
        // Without getStackTrace() and chain().
        for (int i = chain.length - 1; i >= 2; i--)
            text.append(place(chain[i])).append(i > 2 ? ", " : "");
        text.append("], \"lines\": [").append(first).append(", ").append(last)
            .append("], \"inner\": [").append(inner).append("]}\n");
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
            tell(phase, begin, end, chain, first, last, "\"java.lang.System.nanoTime\"");
        }
        return value;
    }

    static long doze(String phase, long ns) {
        if (ns == 0)
            return phase.length();
        StackTraceElement[] chain = chain();
        int first = line();
        long begin = System.nanoTime(), end = begin;
        for (int i = 0; i < NAPS; i++) {
            LockSupport.parkNanos(2_000_000);
            end = System.nanoTime(); // may be further in, too, as in all phases
        }
        int last = line();
        tell(phase, begin, end, chain, first, last,
             "\"java.util.concurrent.locks.LockSupport.parkNanos\", \"jdk.internal.misc.Unsafe.park\"");
        return 0;
    }

    // Calls and returns all the time.
    static int leaf(int value) {
        return value * 3 % 1_000_003;
    }

    static int middle(int value) {
        return leaf(value) + 1;
    }

    static long call(String phase, long ns) {
        if (ns == 0)
            return middle(phase.length());
        StackTraceElement[] chain = chain();
        int first = line();
        long used = 0;
        int value = 0;
        while (used < 2 * CPU_NS) {
            used -= cpu();
            long begin = System.nanoTime(), end = begin;
            while (end - begin < 2 * ns) {
                for (int i = 0; i < 1000; i++)
                    value = middle(value);
                end = System.nanoTime();
            }
            used += cpu();
            int last = line();
            tell(phase, begin, end, chain, first, last,
                 "\"JavaChains.middle\", \"JavaChains.leaf\"");
        }
        return value;
    }

    static long deep(int depth, Work work, String phase, long ns) {
        return depth == 0 ? work.run(phase, ns) + 1
                          : deep(depth - 1, work, phase, ns) + 1;
    }

    static long through(Work work, String phase, long ns) {
        return work.run(phase, ns) + 1;
    }

    synchronized long locked(String phase, long ns) {
        return burn(phase, ns) + 1;
    }

    static long handler(String phase, long ns) {
        try {
            throw new IllegalStateException(phase);
        } catch (IllegalStateException problem) {
            return burn(problem.getMessage(), ns) + 1;
        }
    }

    // With numbers that compiled code keeps on its stack.
    static double wide(double a, double b, double c, double d, long e, long f, String phase, long ns) {
        double x = a * b + c, y = b * c + d, z = c * d + a;
        long value = burn(phase, ns);
        return x * y + z * value + e * f;
    }

    public static long reflected(String phase, long ns) {
        return burn(phase, ns) + 1;
    }

    static void phase(String name, Work work) {
        work.run(name + " cold", STRETCH_NS);
        for (int i = 0; i < WARM_CALLS; i++)
            sink += work.run(name, 0);
        work.run(name + " warm", STRETCH_NS);
    }

    static void phases() {
        JavaChains object = new JavaChains();
        phase("burn", JavaChains::burn);
        phase("call", JavaChains::call);
        phase("deep", (name, ns) -> deep(40, JavaChains::burn, name, ns));
        phase("deep doze", (name, ns) -> deep(12, JavaChains::doze, name, ns));
        phase("through", (name, ns) -> through((inner, time) -> burn(inner, time) + 1, name, ns));
        phase("locked", object::locked);
        phase("handler", JavaChains::handler);
        phase("wide", (name, ns) -> (long) wide(1, 2, 3, ns, 5, 6, name, ns));
        phase("doze", JavaChains::doze);
        phase("reflected", (name, ns) -> {
            try {
                Method method = JavaChains.class.getMethod("reflected", String.class, long.class);
                return (long) method.invoke(null, name, ns);
            } catch (ReflectiveOperationException problem) {
                throw new RuntimeException(problem);
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        output = Path.of(arguments[0]);
        LockSupport.parkNanos(1); // its class is initialized before the first stretch
        cpu();
        System.out.println("ready");
        System.in.read();
        Thread thread = new Thread(JavaChains::phases, "chains");
        thread.start();
        thread.join();
        Files.createFile(Path.of(arguments[0] + ".done"));
        System.in.read();
    }
}
