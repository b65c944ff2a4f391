package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Cancellation.Registration;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/// Any graph of linked cancellations against a model that lists the sources of each.
class CancellationModelTest {
    /// A cancellation and its state in the model.
    private static final class Node {
        final Cancellation cancellation;
        final Set<CancellationSource> cancelledBy;

        Node(Cancellation cancellation, Set<CancellationSource> cancelledBy) {
            this.cancellation = cancellation;
            this.cancelledBy = cancelledBy;
        }

        boolean shouldBeCancelled(Set<CancellationSource> cancelled) {
            return cancelledBy.stream().anyMatch(cancelled::contains);
        }
    }

    /// A listener and the number of its runs.
    private static final class Ear {
        final Node node;
        int runs;
        boolean closed;
        boolean due;

        Ear(Node node) {
            this.node = node;
        }
    }

    private static final class World {
        final Random random;
        final List<CancellationSource> sources = new ArrayList<>();
        final Set<CancellationSource> cancelled = new LinkedHashSet<>();
        final List<Node> nodes = new ArrayList<>();
        final List<Ear> ears = new ArrayList<>();
        final List<Registration> registrations = new ArrayList<>();

        World(long seed) {
            random = new Random(seed);
            addSource(List.of());
        }

        void step() {
            switch (random.nextInt(8)) {
                case 0 -> addSource(List.of());
                case 1 -> addSource(someNodes());
                case 2 -> addLink(someNodes());
                case 3 -> cancel(random.nextInt(sources.size()));
                case 4, 5 -> listen(any(nodes));
                case 6 -> close();
                default -> any(nodes).cancellation.isCancelled();
            }
        }

        private <T> T any(List<T> list) {
            return list.get(random.nextInt(list.size()));
        }

        private List<Node> someNodes() {
            List<Node> some = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                some.add(any(nodes));
            }
            return some;
        }

        private static Cancellation[] cancellations(Collection<Node> nodes) {
            return nodes.stream().map(node -> node.cancellation).toArray(Cancellation[]::new);
        }

        private void addSource(List<Node> parents) {
            CancellationSource source = CancellationSource.linkedTo(cancellations(parents));
            Set<CancellationSource> by = union(parents);
            by.add(source);
            sources.add(source);
            nodes.add(new Node(source.cancellation(), by));
        }

        private void addLink(List<Node> parents) {
            nodes.add(new Node(Cancellation.anyOf(cancellations(parents)), union(parents)));
        }

        private static Set<CancellationSource> union(List<Node> parents) {
            Set<CancellationSource> by = new LinkedHashSet<>();
            parents.forEach(parent -> by.addAll(parent.cancelledBy));
            return by;
        }

        private void cancel(int index) {
            CancellationSource source = sources.get(index);
            Node own =
                    nodes.stream()
                            .filter(node -> node.cancellation == source.cancellation())
                            .findFirst()
                            .orElseThrow();
            boolean first = !own.shouldBeCancelled(cancelled) && !cancelled.contains(source);
            if (first) {
                cancelled.add(source);
                ears.stream()
                        .filter(ear -> !ear.closed && ear.node.shouldBeCancelled(cancelled))
                        .forEach(ear -> ear.due = true);
            }
            assertThat(source.cancel()).isEqualTo(first);
        }

        private void listen(Node node) {
            Ear ear = new Ear(node);
            ear.due = node.shouldBeCancelled(cancelled);
            ears.add(ear);
            registrations.add(node.cancellation.onCancel(() -> ear.runs++));
        }

        private void close() {
            if (!ears.isEmpty()) {
                int index = random.nextInt(ears.size());
                registrations.get(index).close();
                ears.get(index).closed = true;
            }
        }

        void check() {
            for (Node node : nodes) {
                assertThat(node.cancellation.isCancelled())
                        .isEqualTo(node.shouldBeCancelled(cancelled));
                if (node.cancellation.isCancelled()) {
                    assertThat(
                                    node.cancelledBy.stream()
                                            .map(source -> source.cancellation().reason()))
                            .contains(node.cancellation.reason());
                }
            }
            for (Ear ear : ears) {
                assertThat(ear.runs).isEqualTo(ear.due ? 1 : 0);
            }
        }
    }

    @Property(tries = 3_000)
    @Clause("P-5")
    void anyGraph_ofSourcesAndLinks_runsEachListenerOnceOrNever(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int steps) {
        World world = new World(seed);
        for (int i = 0; i < steps; i++) {
            world.step();
            if (world.random.nextInt(4) == 0) {
                world.check(); // Not always, for looking decides what is undecided.
            }
        }
        world.check();
    }
}
