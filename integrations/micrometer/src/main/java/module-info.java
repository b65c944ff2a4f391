/// The metrics of Gyre for Micrometer.
@SuppressWarnings({
    "requires-automatic",
    "requires-transitive-automatic"
}) // Micrometer has a module name in its manifest, and no descriptor.
module dev.gyre.micrometer {
    requires transitive dev.gyre.http;
    requires transitive micrometer.core;
    requires static org.jspecify; // Not transitive, or users would need it: docs/adr/0005.

    exports dev.gyre.micrometer;
}
