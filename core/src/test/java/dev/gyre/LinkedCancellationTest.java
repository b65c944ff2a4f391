package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Cancellation.Registration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

/// Cancellations linked to others.
@Timeout(60)
class LinkedCancellationTest {
    private final CancellationSource a = new CancellationSource();
    private final CancellationSource b = new CancellationSource();
    private final Cancellation either = Cancellation.anyOf(a.cancellation(), b.cancellation());
    private final List<String> log = new ArrayList<>();

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    // ------------------------------------------------------------------ being cancelled

    @Test
    @Clause("P-5")
    void anyOf_oneIsCancelled_isCancelledWithItsReason() {
        assertThat(either.isCancelled()).isFalse();
        b.cancel("b");
        assertThat(either.isCancelled()).isTrue();
        assertThat(either.reason()).isSameAs(b.cancellation().reason());
        assertThat(a.cancellation().isCancelled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void anyOf_anotherIsCancelledAfterwards_keepsTheReasonOnceSeen() {
        b.cancel("b");
        CancelledException seen = either.reason();
        a.cancel("a");
        assertThat(either.reason()).isSameAs(seen).hasMessage("b");
    }

    @Test
    @Clause("P-5")
    void onCancel_oneIsCancelled_runsOnceInOrder() {
        either.onCancel(says("first"));
        either.onCancel(says("second"));
        b.cancel();
        a.cancel();
        assertThat(log).containsExactly("first", "second");
    }

    @Test
    @Clause("P-5")
    void onCancel_oneWasCancelledUnseen_runsAtOnce() {
        b.cancel("b");
        either.onCancel(() -> log.add(either.reason().getMessage()));
        assertThat(log).containsExactly("b");
    }

    @Test
    @Clause("P-5")
    void isCancelled_fromAParentsCallback_isTrueAlready() {
        a.cancellation().onCancel(() -> log.add("parent's, and linked: " + either.isCancelled()));
        either.onCancel(says("linked"));
        a.cancel();
        assertThat(log).containsExactly("parent's, and linked: true", "linked");
    }

    @Test
    @Clause("P-5")
    void onCancel_fromAParentsCallback_runsAtOnceAndTheEarlierOnesOnce() {
        a.cancellation().onCancel(() -> either.onCancel(says("late")));
        either.onCancel(says("early"));
        a.cancel();
        assertThat(log).containsExactly("late", "early");
    }

    @Test
    @Clause("P-5")
    void cancelOfTheOtherParent_fromACallback_runsNothingTwice() {
        either.onCancel(b::cancel);
        either.onCancel(says("second"));
        a.cancel("a");
        assertThat(log).containsExactly("second");
        assertThat(either.reason()).hasMessage("a");
    }

    @Test
    @Clause("P-5")
    void callback_thatThrows_isThrownByTheCancelOfTheParent() {
        RuntimeException first = new IllegalStateException("linked");
        RuntimeException second = new IllegalStateException("parent's");
        either.onCancel(
                () -> {
                    throw first;
                });
        either.onCancel(says("linked"));
        a.cancellation()
                .onCancel(
                        () -> {
                            throw second;
                        });
        a.cancellation().onCancel(says("parent's"));
        assertThatThrownBy(a::cancel).isSameAs(first).hasSuppressedException(second);
        assertThat(log).containsExactly("linked", "parent's");
    }

    // ------------------------------------------------------------------ shapes

    @Test
    @Clause("P-5")
    void diamond_cancelledAtItsTop_runsEachListenerOnce() {
        Cancellation left = Cancellation.anyOf(a.cancellation(), b.cancellation());
        Cancellation right =
                Cancellation.anyOf(a.cancellation(), new CancellationSource().cancellation());
        Cancellation bottom = Cancellation.anyOf(left, right);
        left.onCancel(says("left"));
        right.onCancel(says("right"));
        bottom.onCancel(says("bottom"));
        a.cancel("top");
        assertThat(log).containsExactlyInAnyOrder("left", "right", "bottom");
        assertThat(bottom.reason()).isSameAs(a.cancellation().reason());
    }

    @Test
    @Clause("P-5")
    void chain_ofTenThousandLinks_isCancelledAtItsEnd() {
        Cancellation end = either;
        for (int i = 0; i < 10_000; i++) {
            end = Cancellation.anyOf(end, i % 2 == 0 ? a.cancellation() : Cancellation.none());
            if (i % 1_000 == 0) {
                end.onCancel(says("link " + i / 1_000));
            }
        }
        end.onCancel(says("end"));
        a.cancel();
        assertThat(end.isCancelled()).isTrue();
        assertThat(log).hasSize(11).doesNotHaveDuplicates();
    }

    @Test
    @Clause("P-5")
    void scopes_aThousandInOneAnother_endWithTheOutermost() {
        List<CancellationSource> scopes = new ArrayList<>(List.of(a));
        for (int i = 0; i < 1_000; i++) {
            Cancellation outer = scopes.getLast().cancellation();
            CancellationSource scope = CancellationSource.linkedTo(outer);
            scope.cancellation().onCancel(says("scope " + i));
            scopes.add(scope);
        }
        scopes.get(500).cancel("half");
        assertThat(log).hasSize(501);
        assertThat(scopes.get(499).cancellation().isCancelled()).isFalse();
        assertThat(scopes.getLast().cancellation().reason()).hasMessage("half");
        a.cancel("all");
        assertThat(log).hasSize(1_000).doesNotHaveDuplicates();
    }

    @Test
    void anyOf_whatNeedsNoLink_isTheThingItself() {
        Cancellation alone = a.cancellation();
        assertThat(Cancellation.anyOf()).isSameAs(Cancellation.none());
        assertThat(Cancellation.anyOf(Cancellation.none())).isSameAs(Cancellation.none());
        assertThat(Cancellation.anyOf(alone)).isSameAs(alone);
        assertThat(Cancellation.anyOf(Cancellation.none(), alone, alone)).isSameAs(alone);
        assertThat(Cancellation.anyOf(either, alone)).isSameAs(either);
        b.cancel();
        assertThat(Cancellation.anyOf(alone, b.cancellation())).isSameAs(b.cancellation());
    }

    @Test
    void anyOf_misused_throwsAtOnceAndSaysWhich() {
        assertThatThrownBy(() -> Cancellation.anyOf(a.cancellation(), null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("cancellation 1");
        Cancellation[] tooMany = new Cancellation[65_537];
        for (int i = 0; i < tooMany.length; i++) {
            tooMany[i] = new CancellationSource().cancellation();
        }
        assertThatThrownBy(() -> Cancellation.anyOf(tooMany))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("linked to 65537 others, but at most 65536");
    }

    // ------------------------------------------------------------------ linked sources

    @Test
    @Clause("P-5")
    void linkedSource_cancelled_leavesItsParents() {
        CancellationSource child = CancellationSource.linkedTo(a.cancellation(), b.cancellation());
        child.cancellation().onCancel(says("child"));
        assertThat(child.cancel("own")).isTrue();
        assertThat(child.cancellation().reason()).hasMessage("own");
        assertThat(a.cancellation().isCancelled()).isFalse();
        a.cancel();
        assertThat(child.cancellation().reason()).hasMessage("own");
        assertThat(log).containsExactly("child");
    }

    @Test
    @Clause("P-5")
    void linkedSource_whoseParentWasCancelled_isCancelledAlready() {
        CancellationSource child = CancellationSource.linkedTo(a.cancellation());
        a.cancel("parent");
        assertThat(child.cancel("own")).isFalse();
        assertThat(child.cancellation().reason()).hasMessage("parent");
        CancellationSource late = CancellationSource.linkedTo(b.cancellation(), a.cancellation());
        assertThat(late.cancel("own")).isFalse();
        assertThat(late.cancellation().reason()).hasMessage("parent");
    }

    @Test
    @Clause("P-5")
    void linkedSource_cancelledBeforeItsParent_keepsItsOwnReasonUnseen() {
        CancellationSource child = CancellationSource.linkedTo(a.cancellation());
        Cancellation grandchild = Cancellation.anyOf(child.cancellation(), b.cancellation());
        assertThat(child.cancel("own")).isTrue();
        a.cancel("parent");
        assertThat(child.cancellation().reason()).hasMessage("own");
        assertThat(grandchild.reason()).hasMessage("own");
    }

    // ------------------------------------------------------------------ keeping

    @Test
    @Clause("P-5")
    void linked_withoutListeners_isNotKnownToItsParents() {
        Reachability linked =
                Reachability.of(
                        () -> {
                            Cancellation made =
                                    Cancellation.anyOf(a.cancellation(), b.cancellation());
                            assertThat(made.isCancelled()).isFalse();
                            return made;
                        });
        linked.assertLost("a linked cancellation without listeners");
        a.cancel();
    }

    @Test
    @Clause("P-5")
    void linked_whoseLastListenerClosed_isNotKnownToItsParents() {
        Reachability linked =
                Reachability.of(
                        () -> {
                            CancellationSource made =
                                    CancellationSource.linkedTo(a.cancellation(), b.cancellation());
                            Registration first = made.cancellation().onCancel(says("first"));
                            Registration second = made.cancellation().onCancel(says("second"));
                            first.close();
                            second.close();
                            return made.cancellation();
                        });
        linked.assertLost("a linked cancellation whose listeners are closed");
        a.cancel();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void linked_withAListener_isKeptByItsParents() {
        Reachability linked =
                Reachability.of(
                        () -> {
                            Cancellation made =
                                    Cancellation.anyOf(a.cancellation(), b.cancellation());
                            made.onCancel(says("kept"));
                            return made;
                        });
        assertThat(linked.isLost()).as("a linked cancellation that has a listener").isFalse();
        a.cancel();
        assertThat(log).containsExactly("kept");
        linked.assertLost("a linked cancellation that was told, by its other parent");
    }

    @Test
    @Clause("P-5")
    void linked_listenedToAgain_hearsAgain() {
        either.onCancel(says("closed")).close();
        either.onCancel(says("closed too")).close();
        either.onCancel(says("heard"));
        a.cancel();
        assertThat(log).containsExactly("heard");
    }
}
