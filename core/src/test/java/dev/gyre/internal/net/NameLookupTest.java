package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.Descriptor;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// Name lookup outside the loop, and the order of addresses.
class NameLookupTest {
    @Example
    @Clause("N-1")
    void timeout_whileTheNameIsLookedUp_doesNotWaitForIt() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (EventLoop loop = EventLoop.open()) {
            long before = OpenDescriptors.count();
            Promise<Descriptor> promise =
                    SocketConnector.connect(
                            loop,
                            InetSocketAddress.createUnresolved("slow.test", 80),
                            SocketSettings.DEFAULTS,
                            Duration.ofMillis(20),
                            host -> {
                                asked.countDown();
                                awaitStubbornly(answer);
                                answered.countDown();
                                return List.of(InetAddress.getLoopbackAddress());
                            });
            promise.recover(ignored -> null);
            asked.await();
            while (!promise.isSettled()) {
                loop.runSome();
            }
            assertThat(((Outcome.Rejected<Descriptor>) promise.outcome()).reason())
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("slow.test")
                    .hasMessageContaining("20 ms")
                    .hasMessageContaining("name lookup is still in progress");
            answer.countDown();
            answered.await();
            loop.runUntilEmpty();
            assertThat(OpenDescriptors.count())
                    .as("a late result starts no attempt")
                    .isLessThanOrEqualTo(before);
        }
    }

    /// Ignores interrupts, like the resolver of the system.
    private static void awaitStubbornly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Property(tries = 200)
    @Clause("N-1")
    void order_ofAnyAddresses_takesTheFamiliesInTurnAndKeepsEachInOrder(
            @ForAll @Size(max = 40) List<Boolean> sixes) throws UnknownHostException {
        List<InetAddress> found = new ArrayList<>();
        for (boolean six : sixes) {
            byte[] bytes = new byte[six ? 16 : 4];
            bytes[0] = 32;
            bytes[bytes.length - 1] = (byte) found.size();
            found.add(InetAddress.getByAddress(bytes));
        }
        List<InetAddress> ordered =
                SocketConnector.interleaved(found, 80).stream()
                        .map(NameLookupTest::hostOf)
                        .toList();
        assertThat(ordered).containsExactlyInAnyOrderElementsOf(found);
        for (boolean six : new boolean[] {true, false}) {
            assertThat(ordered.stream().filter(a -> a instanceof Inet6Address == six))
                    .containsExactlyElementsOf(
                            found.stream().filter(a -> a instanceof Inet6Address == six).toList());
        }
        long of6 = found.stream().filter(Inet6Address.class::isInstance).count();
        long inTurn = 2 * Math.min(of6, found.size() - of6);
        for (int i = 1; i < inTurn; i++) {
            assertThat(ordered.get(i) instanceof Inet6Address)
                    .as("the family of address %d of %s", i, ordered)
                    .isNotEqualTo(ordered.get(i - 1) instanceof Inet6Address);
        }
        if (!found.isEmpty()) {
            assertThat(ordered.getFirst()).isEqualTo(found.getFirst());
        }
    }

    private static InetAddress hostOf(SocketAddress address) {
        return ((InetSocketAddress) address).getAddress();
    }

    @Example
    @Clause("N-1")
    void order_ofMoreThanAreTried_leavesTheRestOut() {
        List<InetAddress> many = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            many.add(InetAddress.getLoopbackAddress());
        }
        assertThat(SocketConnector.interleaved(many, 80)).hasSize(SocketConnector.MAX_ADDRESSES);
    }

    @Example
    @Clause("N-1")
    void systemResolver_ofLocalhost_findsItAndPutsIpv6First() throws UnknownHostException {
        List<InetAddress> found = SystemResolver.INSTANCE.resolve("localhost");
        assertThat(found).isNotEmpty().allMatch(InetAddress::isLoopbackAddress);
        boolean fourSeen = false;
        for (InetAddress address : found) {
            assertThat(fourSeen && address instanceof Inet6Address)
                    .as("IPv6 after IPv4 in %s", found)
                    .isFalse();
            fourSeen |= !(address instanceof Inet6Address);
        }
    }
}
