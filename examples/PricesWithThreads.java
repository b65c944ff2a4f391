/// Asks three shops concurrently and selects the best offer within a deadline: with threads.
import dev.gyre.EventLoop;

record Offer(String shop, int price) {}

void main() {
    try (var loop = EventLoop.open()) {
        Thread.startVirtualThread(() -> visitAll(loop));
        loop.run();
    }
}

/// Runs on its own thread and waits for the others. The loop does not wait.
void visitAll(EventLoop loop) {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var shops = List.of("corner", "market", "island");
        var calls = shops.stream().map(shop -> (Callable<Integer>) () -> ask(shop)).toList();
        var futures = threads.invokeAll(calls, 3, TimeUnit.SECONDS); // Interrupts the rest.
        var offers = new ArrayList<Offer>();
        for (int i = 0; i < futures.size(); i++) {
            offer(shops.get(i), futures.get(i)).ifPresent(offers::add);
        }
        loop.submit(() -> show(offers)); // Loop state is used on the loop thread only.
    } catch (InterruptedException e) {
        IO.println("interrupted");
    } finally {
        loop.submit(loop::stop); // After the offers.
    }
}

Optional<Offer> offer(String shop, Future<Integer> future) {
    return switch (future.state()) {
        case SUCCESS -> Optional.of(new Offer(shop, future.resultNow()));
        case FAILED -> Optional.of(fallback(shop, future.exceptionNow()));
        case CANCELLED, RUNNING -> giveUp(shop);
    };
}

Optional<Offer> giveUp(String shop) {
    IO.println(shop + " did not respond in time");
    return Optional.empty();
}

Offer fallback(String shop, Throwable failure) {
    IO.println(shop + " failed (" + failure.getMessage() + "): using its catalogue price");
    return new Offer(shop, 11);
}

void show(List<Offer> offers) {
    var best = offers.stream().min(Comparator.comparing(Offer::price));
    IO.println("best offer: " + best.map(Offer::shop).orElse("none"));
}

int ask(String shop) throws Exception { // Blocking code, as in a library.
    return switch (shop) {
        case "corner" -> 12;
        case "market" -> throw new IOException("closed on Mondays");
        default -> new CompletableFuture<Integer>().get(); // Blocks forever.
    };
}
