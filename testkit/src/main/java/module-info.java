/// Gyre's test kit: a simulated world of sockets, pipes, files and time for loops to run in.
module dev.gyre.testkit {
    requires transitive dev.gyre;
    requires static org.jspecify; // not transitive, or users would need it: docs/adr/0005

    exports dev.gyre.testkit;
}
