/// A user's module, with the one line that docs/guide/http.md names.
module consumer {
    requires dev.gyre.http;
}
