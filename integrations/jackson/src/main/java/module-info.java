/// JSON in HTTP requests and responses by Jackson.
module dev.gyre.jackson {
    requires transitive dev.gyre.http;
    requires transitive tools.jackson.databind;
    requires static org.jspecify; // Not transitive, or users would need it: docs/adr/0005.

    exports dev.gyre.jackson;
}
