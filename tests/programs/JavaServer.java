// SPDX-License-Identifier: GPL-3.0-or-later
// A web server with a slow request now and then, in Java: tests/programs/slow_requests.py says what
// it does.
//
//     java [OPTION...] JavaServer.java
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

public class JavaServer {
    static final AtomicInteger served = new AtomicInteger(), planted = new AtomicInteger();
    static volatile long sink;

    static void spin(long ns) {
        long end = System.nanoTime() + ns, value = 0;
        while (System.nanoTime() < end)
            value = value * 31 + 7;
        sink = value;
    }

    static void look() {
        spin(500_000);
    }

    static void reconcile() {
        planted.incrementAndGet();
        spin(60_000_000);
    }

    static void handle(HttpExchange exchange) throws IOException {
        look();
        if (exchange.getRequestURI().getPath().endsWith("7"))
            reconcile();
        served.incrementAndGet();
        exchange.sendResponseHeaders(200, 3);
        exchange.getResponseBody().write("ok\n".getBytes());
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", JavaServer::handle);
        server.start();
        System.out.println("ready\n" + server.getAddress().getPort());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        input.readLine();
        System.out.println("{\"served\": " + served + ", \"planted\": " + planted + "}");
        input.readLine();
        System.exit(0);
    }
}
