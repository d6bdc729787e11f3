// SPDX-License-Identifier: GPL-3.0-or-later
// A server with a virtual thread for each connection, which there are since Java 21: two threads carry
// them in turn, each kind of request is worked for in a method of its own, and other virtual threads
// work for no request meanwhile. Its clients are in the same process.
//
//     java -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
//          VirtualExchanges.java
//
// It prints `ready PID`, waits for a line on standard input before it begins, prints one line of JSON
// with how many requests were served, and waits for another line before it exits.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualExchanges {
    static final int PIECES = 6, CLIENTS = 4, REQUESTS = 60;
    static final long PIECE_NS = 500_000;
    static final AtomicInteger served = new AtomicInteger();
    static volatile boolean ended;
    static volatile long sink;

    interface Step {
        void run() throws InterruptedException;
    }

    static void spin(long ns) {
        long end = System.nanoTime() + ns, value = 1;
        while (System.nanoTime() < end)
            value = value * 31 + 7;
        sink = value;
    }

    static void workAtOnce() {
        spin(PIECES * PIECE_NS);
    }

    static void workSleeping() {
        spin(PIECE_NS);
    }

    static void workYielding() {
        spin(PIECE_NS);
    }

    static void workForNobody() {
        spin(100_000);
    }

    static void atOnce() {
        workAtOnce();
    }

    static void sleeping() throws InterruptedException {
        for (int i = 0; i < PIECES; i++) {
            workSleeping();
            Thread.sleep(1);
        }
    }

    static void yielding() {
        for (int i = 0; i < PIECES; i++) {
            workYielding();
            Thread.yield();
        }
    }

    static void serve(Socket connection, Step step) {
        byte[] request = new byte[4];
        try (connection) {
            while (connection.getInputStream().readNBytes(request, 0, 4) == 4) {
                step.run();
                served.incrementAndGet();
                connection.getOutputStream().write(request);
            }
        } catch (IOException | InterruptedException problem) {
            problem.printStackTrace();
        }
    }

    static void ask(Socket connection) {
        byte[] bytes = "work".getBytes();
        try (connection) {
            for (int i = 0; i < REQUESTS; i++) {
                connection.getOutputStream().write(bytes);
                if (connection.getInputStream().readNBytes(bytes, 0, 4) != 4)
                    throw new IOException("no answer");
            }
        } catch (IOException problem) {
            problem.printStackTrace();
        }
    }

    static void forNobody() {
        try {
            while (!ended) {
                workForNobody();
                Thread.sleep(1);
            }
        } catch (InterruptedException problem) {
            problem.printStackTrace();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Step[] kinds = {VirtualExchanges::atOnce, VirtualExchanges::sleeping,
            VirtualExchanges::yielding};
        ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        input.readLine();
        for (int i = 0; i < 2; i++)
            Thread.ofVirtual().start(VirtualExchanges::forNobody);
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS * kinds.length; i++) {
            Step step = kinds[i % kinds.length];
            Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
            Socket connection = listener.accept();
            Thread.ofVirtual().start(() -> serve(connection, step));
            clients.add(Thread.ofPlatform().start(() -> ask(client)));
        }
        for (Thread client : clients)
            client.join();
        ended = true;
        System.out.println("{\"program\":\"VirtualExchanges\",\"final\":true,\"ok\":true,\"served\":"
            + served.get() + "}");
        input.readLine();
    }
}
