package dev.gyre.internal.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

class IntrusiveListTest {
    static final int NODES = 8;

    private static final class Item extends IntrusiveList.Node<Item> {}

    /// Each number moves a node in or out, or polls; a deque is the model.
    @Property
    void list_againstAModel_behavesLikeADeque(
            @ForAll @Size(max = 60) List<@IntRange(max = NODES) Integer> steps) {
        IntrusiveList<Item> list = new IntrusiveList<>();
        Deque<Item> model = new ArrayDeque<>();
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            items.add(new Item());
        }
        for (int step : steps) {
            if (step == NODES) {
                assertThat(list.poll()).isSameAs(model.poll());
            } else if (list.contains(items.get(step))) {
                list.remove(items.get(step));
                model.remove(items.get(step));
            } else {
                list.add(items.get(step));
                model.add(items.get(step));
            }
            assertThat(contents(list)).containsExactlyElementsOf(model);
            assertThat(list.isEmpty()).isEqualTo(model.isEmpty());
        }
    }

    private static List<Item> contents(IntrusiveList<Item> list) {
        List<Item> all = new ArrayList<>();
        for (Item item = list.first(); item != null; item = list.after(item)) {
            all.add(item);
        }
        return all;
    }

    @Test
    void add_toASecondList_isRefused() {
        IntrusiveList<Item> first = new IntrusiveList<>();
        IntrusiveList<Item> second = new IntrusiveList<>();
        Item item = new Item();
        first.add(item);
        assertThatThrownBy(() -> second.add(item)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> second.remove(item)).isInstanceOf(AssertionError.class);
        assertThat(second.contains(item)).isFalse();
    }
}
