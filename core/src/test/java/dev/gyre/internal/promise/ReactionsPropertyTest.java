package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TestLoopContext;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.util.ArrayList;
import java.util.List;

class ReactionsPropertyTest {
    /// A number below 5 adds a reaction. Others remove one, most often the first.
    @Property(tries = 2_000)
    @Clause("P-1")
    void trigger_afterAnyAddingAndRemoving_runsWhatIsLeftInOrder(
            @ForAll @Size(max = 200) List<@IntRange(max = 8) Integer> program) {
        List<Integer> ran = new ArrayList<>();
        List<Reaction.Internal> model = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int number = i;
            model.add(() -> ran.add(number));
        }
        Reactions reactions = new Reactions(model.get(0), model.get(1));
        int next = 2;
        for (int choice : program) {
            if (choice < 5 || model.isEmpty()) {
                int number = next++;
                Reaction.Internal added = () -> ran.add(number);
                model.add(added);
                reactions.add(added);
            } else {
                int index = choice < 7 ? 0 : choice == 7 ? model.size() - 1 : model.size() / 2;
                reactions.remove(model.remove(index));
            }
        }
        reactions.notifySettled(
                new Promises(
                        new TestLoopContext(),
                        new Confinement("tested"),
                        new TaskRing("microtasks"),
                        false));
        List<Integer> triggered = List.copyOf(ran);
        ran.clear();
        model.forEach(Reaction.Internal::run);
        assertThat(triggered).isEqualTo(ran);
    }
}
