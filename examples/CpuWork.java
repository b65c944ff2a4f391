/// Work that computes, on threads beside the loops, for HTTP and for a protocol of its own.
/// Try: `curl http://localhost:8080/primes/1000000`. Press Ctrl-C to stop.
import module dev.gyre.http;

import dev.gyre.io.Stream;

/// One thread per processor that the loops leave, and a limited queue.
final BoundedExecutor compute = BoundedExecutor.platformThreads("compute", 1, 100);

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var group = LoopGroup.ofCores()) {
        var server = HttpServer.on(group).get("/primes/{max}", this::primes);
        server.onError(RejectedExecutionException.class, this::busy);
        IO.println("listening on " + server.listen(port).uri());
        var address = new InetSocketAddress("localhost", 0);
        IO.println("numbers on " + Listener.tcp(group, address, this::serve).address());
        server.await();
    }
}

Promise<?> primes(Request request, Response response) {
    int max = (int) request.pathLong("max", 2, 10_000_000);
    return request.loop()
            .promisify(compute, request.cancellation(), _ -> countPrimes(max))
            .then(count -> response.text(count + "\n"));
}

/// The queue is full. A client can retry.
Promise<?> busy(RejectedExecutionException failure, Request request, Response response) {
    return response.status(503).header("Retry-After", "1").text("busy\n");
}

/// Reads no input while the work waits and runs: a client cannot send faster than it is served.
void serve(Stream stream) {
    stream.onData(
            data -> {
                int max = Integer.parseInt(data.getText(StandardCharsets.US_ASCII).strip());
                stream.process(compute, _ -> countPrimes(max) + "\n").thenAccept(stream::write);
            });
}

long countPrimes(int max) {
    return IntStream.rangeClosed(2, max)
            .filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).allMatch(i -> n % i != 0))
            .count();
}
