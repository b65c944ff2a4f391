package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

class HttpServerTest {
    @Test
    void get_ofALiteralRoute_isAnswered() throws Exception {
        try (var loop = EventLoop.open()) {
            var server =
                    HttpServer.on(loop)
                            .get("/", (request, response) -> response.text("Hello, World!"))
                            .get("/u/{id}", (request, response) -> response.text(request.path("id")))
                            .blocking("GET", "/b", (request, response) -> response.text("b " + Thread.currentThread().isVirtual()))
                            .post("/echo", (request, response) -> request.body().text().then(response::text))
                            .listen(0);
            int port = ((InetSocketAddress) server.address()).getPort();
            var thread = new Thread(loop::run);
            thread.start();
            IO.println(ask(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /u/7%20x HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloPOST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /nix HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
            assertThat(ask(port, "GET / HTTP/1.1\n\n")).startsWith("HTTP/1.1 400 ");
        }
    }

    private static String ask(int port, String text) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5000);
            socket.getOutputStream().write(text.getBytes(ISO_8859_1));
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), ISO_8859_1);
        }
    }
}
