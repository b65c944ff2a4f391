package dev.gyre.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.StackEnd;

import org.junit.jupiter.api.Test;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.util.HexFormat;
import java.util.List;

class StackReserveTest {
    private int depth;
    private int reached;

    @Test
    @Clause("E-4")
    void require_thatPasses_leavesStackForACallChainOfThatSize() {
        for (int round = 0; round < 10; round++) {
            assertLeaves(StackReserve::requireSmall, 8 << 10);
            assertLeaves(StackReserve::requireMedium, 16 << 10);
            assertLeaves(StackReserve::requireLarge, 32 << 10);
        }
    }

    /// A frame takes some hundred bytes interpreted and less compiled.
    private void assertLeaves(Runnable require, int bytes) {
        int frames = bytes / 160;
        int[] passed = new int[1];
        int overflows =
                StackEnd.callElsewhere(
                        () -> {
                            require.run();
                            passed[0]++;
                            depth = 0;
                            descend(frames);
                        });
        assertThat(overflows).isPositive();
        assertThat(passed[0]).as("what passes does not overflow afterwards").isEqualTo(1);
        assertThat(reached).isEqualTo(frames);
    }

    private void descend(int left) {
        depth++;
        if (left > 1) {
            descend(left - 1);
        }
        reached = depth;
    }

    @Test
    void frame_isAMethodThatDoesNothingWithManyLocals() {
        byte[] bytes = HexFormat.of().parseHex(StackReserve.FRAME.formatted(4_096));
        ClassModel frame = ClassFile.of().parse(bytes);
        assertThat(frame.thisClass().asInternalName()).isEqualTo("dev/gyre/internal/base/Frame");
        MethodModel enter = frame.methods().getFirst();
        CodeAttribute code = (CodeAttribute) enter.code().orElseThrow();
        assertThat(frame.methods()).hasSize(1);
        assertThat(enter.methodName().stringValue()).isEqualTo("enter");
        assertThat(code.maxLocals()).isEqualTo(4_096);
        List<String> instructions =
                code.elementStream()
                        .filter(Instruction.class::isInstance)
                        .map(each -> ((Instruction) each).opcode().name())
                        .toList();
        assertThat(instructions)
                .containsExactly("GETSTATIC", "IFEQ", "ACONST_NULL", "ATHROW", "RETURN");
    }
}
