/// Asks three shops at once and takes the best offer that comes in time: with callbacks.
import dev.gyre.EventLoop;

record Offer(String shop, int price) {}

final EventLoop loop = EventLoop.open();
final Map<String, Thread> asked = new LinkedHashMap<>(); // Those that have not answered yet.
final List<Offer> offers = new ArrayList<>();

void main() {
    try (loop) {
        loop.after(Duration.ofSeconds(3), timer -> finish());
        for (String shop : List.of("corner", "market", "island")) {
            asked.put(shop, Thread.startVirtualThread(() -> visit(shop)));
        }
        loop.run();
    }
}

/// Runs on its own thread: may block, must not use loop objects.
void visit(String shop) {
    try {
        int price = ask(shop);
        loop.trySubmit(() -> answered(shop, () -> new Offer(shop, price)));
    } catch (Exception e) {
        loop.trySubmit(() -> answered(shop, () -> fallback(shop, e)));
    }
}

void answered(String shop, Supplier<Offer> offer) {
    if (asked.remove(shop) != null) { // Or it comes too late.
        offers.add(offer.get());
        if (asked.isEmpty()) {
            finish();
        }
    }
}

void finish() { // All have answered, or the deadline has passed.
    loop.stop();
    asked.values().forEach(Thread::interrupt);
    asked.keySet().forEach(shop -> IO.println(shop + " did not answer in time"));
    asked.clear();
    var best = offers.stream().min(Comparator.comparing(Offer::price));
    IO.println("best offer: " + best.map(Offer::shop).orElse("none"));
}

Offer fallback(String shop, Exception failure) {
    IO.println(shop + " failed (" + failure.getMessage() + "): its catalogue has to do");
    return new Offer(shop, 11);
}

int ask(String shop) throws Exception { // Blocking code, as libraries have it.
    return switch (shop) {
        case "corner" -> 12;
        case "market" -> throw new IOException("closed on Mondays");
        default -> new CompletableFuture<Integer>().get(); // Far away: blocks for ever.
    };
}
