/// The event loop and its access to the operating system, without a runtime dependency.
@SuppressWarnings("module") // the target modules are built after this one
module dev.gyre {
    requires static org.jspecify; // not transitive, or users would need it: docs/adr/0005
    requires static jdk.jfr; // events are recorded if the runtime image has it
    requires jdk.unsupported; // sun.misc.Signal, the only way to the JVM's own signal handler

    exports dev.gyre;
    exports dev.gyre.io;
    exports dev.gyre.io.operation;
    exports dev.gyre.metrics;
    exports dev.gyre.os;

    // `gyre doctor` checks the system calls and limits of the kernel.
    exports dev.gyre.internal.sys to
            dev.gyre.cli,
            dev.gyre.testkit;

    // The simulated kernel is a backend in a separate module.
    exports dev.gyre.internal.base to
            dev.gyre.testkit;
    exports dev.gyre.internal.backend to
            dev.gyre.testkit;
    exports dev.gyre.internal.io to
            dev.gyre.testkit;
    exports dev.gyre.internal.loop to
            dev.gyre.testkit;
    exports dev.gyre.internal.group to
            dev.gyre.testkit;
    exports dev.gyre.internal.time to
            dev.gyre.testkit;
}
